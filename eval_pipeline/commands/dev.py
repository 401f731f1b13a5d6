"""``dev``: Dagster's UI and daemon over the same databases that the command line uses."""

import os
import signal
import subprocess
import sys

from rich.console import Console

from eval_pipeline.settings import PROJECT, settings
from eval_pipeline.storage import storage

ENDS = (signal.SIGINT, signal.SIGTERM)
"""The signals that end the UI."""


def _unblocked() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def dev(host: str, port: int, err: Console) -> int:
    """Serves until it is interrupted; gives Dagster's exit code, 0 after Ctrl-C."""
    os.environ.setdefault("DAGSTER_HOME", str(PROJECT / "dagster_home"))
    with storage(settings()) as where:
        if where.server is not None and where.server.started_here:
            from eval_pipeline.deployment.materialize import fail_orphaned_runs

            fail_orphaned_runs()
        err.print(f"the board: http://{host}:{port}/assets/board (Ctrl-C ends the UI)", markup=False, soft_wrap=True)
        arguments = ["-w", str(PROJECT / "workspace.yaml"), "-h", host, "-p", str(port)]
        # Blocked until the child is known; handled, so that it does not inherit an ignored SIGINT (a shell's "&").
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
        for number in ENDS:
            signal.signal(number, signal.SIG_DFL)
        command = [sys.executable, "-m", "dagster", "dev", *arguments]
        child = subprocess.Popen(command, cwd=PROJECT, preexec_fn=_unblocked)  # noqa: S603, PLW1509  (no threads yet)
        for number in ENDS:
            signal.signal(number, lambda _sent, _frame: child.send_signal(signal.SIGINT))
        _unblocked()
        code = child.wait()
    return 0 if code in (0, -signal.SIGINT, -signal.SIGTERM, 128 + signal.SIGINT, 128 + signal.SIGTERM) else code
