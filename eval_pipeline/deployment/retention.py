"""Retention: deletes old runs of Dagster with their events and step logs, and old outcomes with all that hangs on them.

Each by a setting of its own (``EVAL_KEEP_RUNS_DAYS``, ``EVAL_KEEP_OUTCOMES_DAYS``). Deleted is one run after the other,
so whoever is killed has deleted some, and the next one goes on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunRecord, RunsFilter

from eval_pipeline.deployment.nights import UNDER_WAY
from eval_pipeline.deployment.request import ROOT_TAG, RunRequest, asked_of
from eval_pipeline.results import expiry
from eval_pipeline.results.database import Database
from eval_pipeline.retention import StoredRun, deletable, newest_whole
from eval_pipeline.settings import Settings, settings
from eval_pipeline.suite import load_suite

CRON = "30 0 * * *"
ENDED = [DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]
PAGE = 200
"""Dagster runs that are read at once."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted, or would be: root runs of the results by id, Dagster runs by id, and how many alerts."""

    outcomes: tuple[str, ...]
    runs: tuple[str, ...]
    n_alerts: int


def prune(
    instance: DagsterInstance, database: Database, chosen: Settings, *, now: datetime, dry_run: bool = False
) -> Pruned:
    """Deletes what the settings no longer keep. Two at once work one after the other; a setting that is unset keeps.

    Raises DatasetError when a dataset cannot be read: it says which runs the intermittent defects need.
    """
    marked = {
        (item.name, example.id)
        for item in load_suite(chosen.datasets)
        for example in item.dataset.examples
        if any(defect.intermittent for defect in example.known_defects)
    }
    with expiry.pruning(database):
        stored = expiry.stored_runs(database, marked)
        outcomes: tuple[str, ...] = ()
        n_alerts = 0
        # Before the results, which say which of Dagster's runs are those of the newest whole ones.
        ended = tuple(_prune_runs(instance, database, stored, chosen, now, dry_run=dry_run))
        if chosen.keep_outcomes_days is not None:
            before = now - timedelta(days=chosen.keep_outcomes_days)
            outcomes = tuple(_prune_outcomes(instance, database, stored, before, dry_run=dry_run))
            n_alerts = (expiry.old_alerts if dry_run else expiry.delete_alerts)(database, before)
    return Pruned(outcomes, ended, n_alerts)


def _prune_outcomes(
    instance: DagsterInstance, database: Database, stored: tuple[StoredRun, ...], before: datetime, *, dry_run: bool
) -> Iterator[str]:
    for run in deletable(stored, before, in_progress(instance)):
        # Asked again for each: a run may have been resumed while others were deleted.
        if dry_run or (run.run_id not in in_progress(instance) and expiry.delete_run(database, run)):
            yield run.run_id


def _prune_runs(
    instance: DagsterInstance,
    database: Database,
    stored: tuple[StoredRun, ...],
    chosen: Settings,
    now: datetime,
    *,
    dry_run: bool,
) -> Iterator[str]:
    if chosen.keep_runs_days is None:
        return
    before = now - timedelta(days=chosen.keep_runs_days)
    needed = in_progress(instance) | newest_whole(stored) | _newest_of_assets(instance)
    needed |= expiry.runs_of_newest_checks(database)
    for run in _ended_before(instance, before):
        if not needed & {run.run_id, *roots_of(run)}:
            if not dry_run:
                _delete(instance, database, run.run_id)
            yield run.run_id


def in_progress(instance: DagsterInstance) -> frozenset[str]:
    """The root runs that Dagster works on, or is about to."""
    runs = instance.get_runs(RunsFilter(statuses=list(UNDER_WAY)))
    return frozenset(root for run in runs for root in roots_of(run))


def roots_of(run: DagsterRun) -> frozenset[str]:
    """The root run that a Dagster run writes to, by any of the ways in which that is said."""
    said = (asked_of(run).get("resume"), run.tags.get(ROOT_TAG), run.root_run_id, run.run_id)
    return frozenset(str(root) for root in said if root)


def _newest_of_assets(instance: DagsterInstance) -> frozenset[str]:
    """The runs that made the newest materialization of an asset: what is stale is decided by it."""
    entries = [record.asset_entry for record in instance.get_asset_records()]
    made = {entry.last_materialization.run_id for entry in entries if entry.last_materialization}
    return frozenset(made | {entry.last_run_id for entry in entries if entry.last_run_id})


def _ended_before(instance: DagsterInstance, before: datetime) -> tuple[DagsterRun, ...]:
    """The runs that ended before an instant, the oldest first. Read to the end: a page begins behind a run's row."""
    wanted = RunsFilter(statuses=ENDED, updated_before=before)
    found: list[RunRecord] = []
    while page := instance.get_run_records(
        wanted, limit=PAGE, cursor=found[-1].dagster_run.run_id if found else None, ascending=True
    ):
        found.extend(page)
    return tuple(item.dagster_run for item in found if (item.end_time or 0.0) < before.timestamp())


def _delete(instance: DagsterInstance, database: Database, run_id: str) -> None:
    """Deletes a Dagster run; its row last, since by it whoever goes on after a kill finds what else there is."""
    expiry.delete_checks_of(database, run_id)
    instance.event_log_storage.delete_events(run_id)
    instance.compute_log_manager.delete_logs(prefix=[run_id])
    instance.delete_run(run_id)


@dg.op(name="retention", description="Deletes what EVAL_KEEP_RUNS_DAYS and EVAL_KEEP_OUTCOMES_DAYS no longer keep.")
def prune_op(context: dg.OpExecutionContext, request: RunRequest) -> None:
    """Deletes, and says how much."""
    with request.database() as database:
        done = prune(context.instance, database, settings(), now=datetime.now(UTC))
    context.add_output_metadata({"n_outcomes": len(done.outcomes), "n_runs": len(done.runs), "n_alerts": done.n_alerts})


@dg.job(
    name="retention",
    description="Deletes what the settings no longer keep: old runs with their events, old outcomes. No model.",
)
def retention() -> None:
    """One step."""
    prune_op()


def retention_schedule(chosen: Settings) -> dg.ScheduleDefinition:
    """Daily, in the time zone of the nights; on by itself where one of the two settings is set."""
    is_on = chosen.keep_runs_days is not None or chosen.keep_outcomes_days is not None
    return dg.ScheduleDefinition(
        name="retention",
        job=retention,
        cron_schedule=CRON,
        execution_timezone=chosen.time_zone,
        default_status=dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED,
        description="Deletes daily what the settings no longer keep.",
    )
