"""The launcher of runs: Dagster's default one, which is also asked whether the process of a run is still there.

Dagster's own never looks, so after a crash of its host a run stays STARTED until its longest time is over. With an
answer the daemon (``run_monitoring``) fails such a run within minutes; what it finished is in the results database.
"""

import time
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterUserCodeUnreachableError  # the daemon's side of Dagster has no public names
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, WorkerStatus
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import deserialize_value

from eval_pipeline.deployment.request import ROOT_TAG
from eval_pipeline.results.database import Database
from eval_pipeline.results.lease import is_run_claimed
from eval_pipeline.settings import settings

GONE_AFTER_S = 60.0
"""So long a code server may not answer before its runs are taken to be gone with it: it may be restarting, or busy."""

RUNNING = CheckRunHealthResult(WorkerStatus.RUNNING)


class WatchedRunLauncher(DefaultRunLauncher):
    """Launches as Dagster's default launcher does, and tells of a run whether its process lives."""

    def __init__(self, inst_data: Any = None) -> None:
        super().__init__(inst_data)
        self._silent_since: dict[str, float] = {}

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Yes: ``check_run_worker_health`` answers."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the process of a run in progress is there.

        A run that a code server made is asked for there. A run of the command line holds a claim on its root run in the
        results database as long as its command lives.
        """
        client = self._get_grpc_client_for_termination(run.run_id)  # type: ignore[no-untyped-call]
        if client is None:
            return _of_command(run)
        try:
            answer = client.can_cancel_execution(CanCancelExecutionRequest(run_id=run.run_id), timeout=10)
        except DagsterUserCodeUnreachableError as error:
            return self._silent(run.run_id, str(error))
        self._silent_since.pop(run.run_id, None)
        if deserialize_value(answer, CanCancelExecutionResult).can_cancel:
            return RUNNING
        return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "its code server does not know the run any more")

    def _silent(self, run_id: str, told: str) -> CheckRunHealthResult:
        now = time.monotonic()
        silent = now - self._silent_since.setdefault(run_id, now)
        if silent < GONE_AFTER_S:
            return RUNNING
        del self._silent_since[run_id]
        return CheckRunHealthResult(
            WorkerStatus.NOT_FOUND, f"its code server did not answer for {silent:.0f} s: {told}"
        )


def _of_command(run: dg.DagsterRun) -> CheckRunHealthResult:
    root, url = run.tags.get(ROOT_TAG), settings().database_url
    if root is None or url is None:
        return RUNNING
    with Database(url.get_secret_value()) as database:
        if is_run_claimed(database, root):
            return RUNNING
    return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "the command that made it is gone")
