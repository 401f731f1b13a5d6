"""What commands that were killed left in Dagster: runs that never end, and slots of pools that nobody gives back.

Dagster's daemon looks after that, where one runs; a command line without a daemon would wait for such a slot for ever.
"""

from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

from eval_pipeline.deployment.request import ROOT_TAG
from eval_pipeline.results.database import Database
from eval_pipeline.results.lease import is_run_claimed

IN_PROGRESS = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]
KILLED = "The command that made this run is gone."


def clear_leftovers(instance: DagsterInstance, database: Database, own_root: str) -> None:
    """Fails the runs of commands that are gone, and gives back the slots of runs that have ended.

    A command holds the claim on its root run as long as it lives. ``own_root`` is the caller's, who holds the claim, so
    that whoever had it before is gone.
    """
    for run in instance.get_runs(RunsFilter(statuses=IN_PROGRESS)):
        root = run.tags.get(ROOT_TAG)
        if root is not None and (root == own_root or not is_run_claimed(database, root)):
            instance.report_run_failed(run, KILLED)
    storage = instance.event_log_storage
    for pool in storage.get_concurrency_keys():
        info = storage.get_concurrency_info(pool)
        for run_id in info.active_run_ids | info.pending_run_ids:
            holder = instance.get_run_by_id(run_id)
            if holder is None or holder.is_finished:
                storage.free_concurrency_slots_for_run(run_id)
