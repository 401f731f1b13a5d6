"""``worker``: takes steps of runs from celery's broker, on this machine or on another one."""

import os

from rich.console import Console

from eval_pipeline.errors import ConfigError
from eval_pipeline.settings import PROJECT, settings
from eval_pipeline.storage import storage


def worker(processes: int, err: Console) -> int:
    """Works until it is ended; gives celery's exit code. Raises ConfigError when celery or its broker is missing."""
    os.environ.setdefault("DAGSTER_HOME", str(PROJECT / "dagster_home"))
    with storage(settings()):
        try:
            from eval_pipeline.deployment.celery_worker import work
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"a worker needs the extra celery: pip install 'eval-pipeline[celery]' ({error})"
            ) from None
        err.print(f"takes steps from the broker, {processes} at once (Ctrl-C ends it)", markup=False, soft_wrap=True)
        return work(settings(), processes)
