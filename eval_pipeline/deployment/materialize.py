"""``eval-pipeline run``: the same assets, materialized in this process on the Postgres-backed instance."""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import dagster as dg
from dagster import DagsterInstance

from eval_pipeline.deployment.assets import key
from eval_pipeline.deployment.board import BOARD
from eval_pipeline.deployment.elsewhere import execute_elsewhere, told_from_outside
from eval_pipeline.deployment.leftovers import clear_leftovers
from eval_pipeline.deployment.request import ROOT_TAG, RunRequest
from eval_pipeline.deployment.watch import WATCH
from eval_pipeline.pipeline import Plan
from eval_pipeline.results.database import Database
from eval_pipeline.run import Progress
from eval_pipeline.settings import PROJECT, settings

PARTS = ("dataset", "outcomes", "scores")
RECYCLE_S = 60
"""After so long a connection of Dagster's is not used again."""
ORPHANED = "The host stopped while this run was in progress."


@dataclass(frozen=True, slots=True)
class Materialized:
    """How the Dagster run ended: whether the board came out of it, what failed, and whether it was interrupted."""

    has_board: bool
    failures: tuple[str, ...]
    interrupted: bool


def instance() -> DagsterInstance:
    """The instance of this checkout; its storage is the database of ``EVAL_DATABASE_URL``."""
    os.environ.setdefault("DAGSTER_HOME", str(PROJECT / "dagster_home"))
    made = DagsterInstance.get()
    # Else each of a run's events opens a connection of its own: that was two thirds of what Dagster costs a run.
    made.optimize_for_webserver(statement_timeout=0, pool_recycle=RECYCLE_S, max_overflow=20)
    return made


def materialize(plan: Plan, dagster_run_id: str, report: Callable[[Progress], None]) -> Materialized:
    """Materializes outcomes, scores and board of a plan. What an agent does never raises here."""
    from eval_pipeline.definitions import defs

    agents = dict.fromkeys(item.entry.name for item in plan.suite)
    assets = [key(agent, part) for agent in agents for part in PARTS]
    _clear_leftovers(plan)
    if not settings().is_in_process:
        return _materialize_elsewhere(plan, [*assets, BOARD], dagster_run_id, report)
    job = defs().resolve_implicit_global_asset_job_def()
    WATCH.report, WATCH.goes_on = report, True
    with instance() as dagster, WATCH.interruptible():
        try:
            result = job.execute_in_process(
                instance=dagster,
                asset_selection=[*assets, BOARD],
                run_config=_run_config(plan),
                run_id=dagster_run_id,
                tags={ROOT_TAG: plan.run_id},
                raise_on_error=False,
            )
        except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError):
            return Materialized(has_board=False, failures=(), interrupted=True)
    board_done = any(event.asset_key == BOARD for event in result.get_asset_materialization_events())
    return Materialized(board_done, _failures(result.all_events), WATCH.interrupted.is_set())


def _clear_leftovers(plan: Plan) -> None:
    url = settings().database_url
    if url is not None:
        with instance() as dagster, Database(url.get_secret_value()) as database:
            clear_leftovers(dagster, database, plan.run_id)


def _materialize_elsewhere(
    plan: Plan, assets: Sequence[dg.AssetKey], run_id: str, report: Callable[[Progress], None]
) -> Materialized:
    with instance() as dagster, told_from_outside(plan, report):
        try:
            result = execute_elsewhere(dagster, assets, _run_config(plan), run_id, {ROOT_TAG: plan.run_id})
        except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError):
            return Materialized(has_board=False, failures=(), interrupted=True)
    interrupted = WATCH.interrupted.is_set()
    board_done = any(event.asset_key == BOARD for event in result.get_asset_materialization_events())
    # The step that made the board was in another process, and did not know that the run was interrupted.
    return Materialized(board_done and not interrupted, _failures(result.all_events), interrupted)


def _run_config(plan: Plan) -> dict[str, object]:
    request = plan.request
    asked = {name: value for name, value in asdict(request.selection).items() if value}
    if request.resume is not None:
        asked = {}
    config = RunRequest(
        select=list(asked.get("select", ())),
        tags=list(asked.get("tags", ())),
        last=asked.get("last"),
        limit=asked.get("limit"),
        trials=request.trials,
        model=request.model,
        resume=request.resume,
        retry_errors=request.retry_errors,
        packs=[str(folder) for folder in request.packs],
    )
    given = {name: value for name, value in config.model_dump().items() if value is not None}
    quiet = {"console": {"config": {"log_level": "CRITICAL"}}}
    return {"resources": {"request": {"config": given}}, "loggers": quiet}


def _failures(events: Sequence[dg.DagsterEvent]) -> tuple[str, ...]:
    """What failed, without the blocking check: that a board is not green is told by the board itself."""
    failed = (event for event in events if event.is_step_failure)
    return tuple(_cause(event) for event in failed if not _is_blocked_check(event))


def _is_blocked_check(event: dg.DagsterEvent) -> bool:
    error = event.step_failure_data.error
    return error is not None and error.cls_name == "DagsterAssetCheckFailedError"


def _cause(event: dg.DagsterEvent) -> str:
    error = event.step_failure_data.error
    while error is not None and error.cause is not None:
        error = error.cause
    told = " ".join(error.message.split()) if error is not None else "failed"
    return f"{event.step_key}: {told}"


def fail_orphaned_runs() -> int:
    """Fails the Dagster runs that a host took with it when it stopped; gives how many.

    Dagster's default launcher never notices. Safe only for a caller that has just started the embedded server, since
    then no run can be in progress.
    """
    in_progress = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
    with instance() as dagster:
        orphans = dagster.get_runs(dg.RunsFilter(statuses=in_progress))
        for run in orphans:
            dagster.report_run_failed(run, ORPHANED)
    return len(orphans)
