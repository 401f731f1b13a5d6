"""``dev``: Dagster's UI and daemon over the same databases that the command line uses."""

import os
import signal
import subprocess
import sys

from rich.console import Console

from eval_pipeline.settings import PROJECT, settings
from eval_pipeline.storage import storage


def dev(host: str, port: int, err: Console) -> int:
    """Serves until it is interrupted; gives Dagster's exit code, 0 after Ctrl-C."""
    os.environ.setdefault("DAGSTER_HOME", str(PROJECT / "dagster_home"))
    with storage(settings()) as where:
        if where.server is not None and where.server.started_here:
            from eval_pipeline.deployment.materialize import fail_orphaned_runs

            fail_orphaned_runs()
        err.print(f"Dagster's UI: http://{host}:{port} (Ctrl-C ends it)", markup=False, soft_wrap=True)
        arguments = ["-w", str(PROJECT / "workspace.yaml"), "-h", host, "-p", str(port)]
        child = subprocess.Popen([sys.executable, "-m", "dagster", "dev", *arguments], cwd=PROJECT)  # noqa: S603
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda sent, _frame: child.send_signal(sent))
        code = child.wait()
    return 0 if code in (0, -signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGTERM) else code
