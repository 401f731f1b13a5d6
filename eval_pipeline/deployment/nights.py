"""The schedule of the nights: when, in which time zone, and what keeps a night from being run twice or much too late.

A schedule and not an automation condition: a cron condition splits a night into several runs, and passes over a tick
when an asset was materialized in between.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

from eval_pipeline.deployment.automation import nightly
from eval_pipeline.deployment.request import REQUEST
from eval_pipeline.settings import Settings, settings

MISSED_AFTER = timedelta(hours=2)
"""A tick that is older was missed: Dagster evaluates the latest one at start-up, however old it is."""

UNDER_WAY = (
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
)


def nightly_schedule(
    chosen: Settings, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> dg.ScheduleDefinition:
    """The schedule of the job ``nightly``: on by itself where EVAL_NIGHTLY_CRON is set, else to be switched on.

    At both changes of daylight saving there is one night: a time that does not exist is the next one that does, a time
    that comes twice is taken once.
    """
    is_on = chosen.nightly_cron is not None

    @dg.schedule(
        name="nightly",
        job=nightly,
        cron_schedule=chosen.nightly_cron or DEFAULT_CRON,
        execution_timezone=chosen.time_zone,
        default_status=dg.DefaultScheduleStatus.RUNNING if is_on else dg.DefaultScheduleStatus.STOPPED,
        description="Everything, up to the release decision; not while a night is still running, nor hours too late.",
    )
    def schedule(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        due = context.scheduled_execution_time
        reason = why_not(context.instance, due, now())
        if reason is not None:
            yield dg.SkipReason(reason)
            return
        yield dg.RunRequest(
            run_key=due.astimezone(UTC).isoformat(),
            run_config={"resources": {REQUEST: {"config": {"strict": chosen.is_night_strict}}}},
            tags={"eval/night": due.date().isoformat()},
        )

    return schedule


DEFAULT_CRON = "30 2 * * *"


def why_not(instance: DagsterInstance, due: datetime, now: datetime) -> str | None:
    """Why the night that was due is not run: it was missed by hours, or another is still running. None: it is run."""
    late = now - due
    if late > MISSED_AFTER:
        return f"the night of {due.isoformat()} was missed: it is {late.total_seconds() / 3600:.1f} hours late"
    running = instance.get_runs(RunsFilter(job_name=nightly.name, statuses=list(UNDER_WAY)), limit=1)
    return f"the night {running[0].run_id} is still {running[0].status.value}" if running else None


def schedules() -> list[dg.ScheduleDefinition]:
    """The schedules of this deployment."""
    return [nightly_schedule(settings())]
