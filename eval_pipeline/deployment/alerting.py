"""The sensor that tells people of nights: it looks at each finished one once, keeps what is to be told, and sends it.

It needs no cursor: which nights were looked at and what was sent is in the results database, so neither a restart of
the daemon nor a tick that dies half-way loses or doubles anything. A failed check does not fail a Dagster run, so the
run's own events are read too: a check that was planned and left no answer is told.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster import DagsterEventType, DagsterInstance, DagsterRun, DagsterRunStatus, RunRecord, RunsFilter
from dagster._core.storage.tags import AUTO_RETRY_RUN_ID_TAG, WILL_RETRY_TAG
from dagster._utils.schedules import schedule_execution_time_iterator

from eval_pipeline.alerts import events, outbox
from eval_pipeline.alerts.channels import channels
from eval_pipeline.alerts.events import Event
from eval_pipeline.deployment.automation import nightly
from eval_pipeline.deployment.nights import DEFAULT_CRON, MISSED_AFTER
from eval_pipeline.deployment.request import is_strict, root_of_night
from eval_pipeline.pipeline import gate_of
from eval_pipeline.results import boards, history, runs
from eval_pipeline.results.database import Database
from eval_pipeline.rules.after_run import stale_intermittents
from eval_pipeline.settings import Settings, settings
from eval_pipeline.suite import load_suite

ENDED = (DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)
LOOKS_BACK = timedelta(days=7)
WAITS_FOR_RETRY = timedelta(hours=1)


def alerts_sensor(chosen: Settings) -> dg.SensorDefinition:
    """The sensor: on by itself where EVAL_ALERT_URLS is set."""
    is_on = bool(chosen.alert_urls)

    @dg.sensor(
        name="alerts",
        minimum_interval_seconds=chosen.alert_interval_s,
        default_status=dg.DefaultSensorStatus.RUNNING if is_on else dg.DefaultSensorStatus.STOPPED,
        description="Tells of nights: fixed defects first, a red board, the gate, stale markers, what did not run.",
    )
    def alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        if chosen.database_url is None:
            return dg.SkipReason("EVAL_DATABASE_URL is not set")
        with Database(chosen.database_url.get_secret_value()) as database:
            database.migrate()
            return dg.SkipReason(look_and_send(context.instance, database, chosen))

    return alerts


def look_and_send(instance: DagsterInstance, database: Database, chosen: Settings, now: datetime | None = None) -> str:
    """One tick, in words: keeps the events of nights that ended or did not begin, and sends what is kept.

    The very first tick takes what it finds for history: nothing of it is told.
    """
    now = now or datetime.now(UTC)
    ended = _ended(instance, now)
    known = outbox.looked_at(database, [run.run_id for run in ended])
    is_first = outbox.is_new(database)
    for run in ended:
        if run.run_id not in known:
            found = () if is_first else tuple(events_of(instance, database, run, chosen))
            outbox.keep(database, run.run_id, found)
    if is_first and not ended:
        outbox.keep(database, "begin", ())
    elif chosen.nightly_cron is not None and not is_first:
        outbox.keep(database, "begin", missed(instance, chosen, now))
    urls = [url.get_secret_value() for url in chosen.alert_urls]
    if not urls:
        return "EVAL_ALERT_URLS is not set: nothing is sent"
    waiting = outbox.send_kept(database, channels(urls, chosen.board_url))
    return f"{waiting} alerts still wait for a channel" if waiting else "all is told"


def missed(instance: DagsterInstance, chosen: Settings, now: datetime) -> Iterator[Event]:
    """The night that was due last, when two hours later none had begun since and none was under way then."""
    due = last_due(chosen, now - MISSED_AFTER)
    begun = instance.get_run_records(
        RunsFilter(job_name=nightly.name, created_after=due - timedelta(minutes=5)), limit=1
    )
    last = instance.get_run_records(RunsFilter(job_name=nightly.name), limit=1)
    was_under_way = last and (last[0].end_time is None or last[0].end_time > due.timestamp())
    if not begun and not was_under_way:
        told = due.astimezone(UTC).isoformat()
        yield events.did_not_run(told, f"nothing had begun by {now.astimezone(UTC).isoformat(timespec='minutes')}")


def last_due(chosen: Settings, before: datetime) -> datetime:
    """The last instant before another at which a night was due."""
    ticks = schedule_execution_time_iterator(
        before.timestamp(), chosen.nightly_cron or DEFAULT_CRON, chosen.time_zone, ascending=False
    )
    return next(tick for tick in ticks if tick <= before)


def _ended(instance: DagsterInstance, now: datetime) -> list[DagsterRun]:
    """The nights that ended lately, the oldest first."""
    wanted = RunsFilter(job_name=nightly.name, statuses=list(ENDED), updated_after=datetime.now(UTC) - LOOKS_BACK)
    return [found.dagster_run for found in instance.get_run_records(wanted)[::-1] if not _goes_on(found, now)]


def _goes_on(found: RunRecord, now: datetime) -> bool:
    """Whether another run takes the night up, as when its process was lost: that one tells what there is to tell.

    When Dagster means to start one and has not within an hour, there is none.
    """
    tags = found.dagster_run.tags
    ended_at = found.end_time or found.update_timestamp.timestamp()
    is_young = now.timestamp() - ended_at < WAITS_FOR_RETRY.total_seconds()
    return AUTO_RETRY_RUN_ID_TAG in tags or (tags.get(WILL_RETRY_TAG) == "true" and is_young)


def events_of(instance: DagsterInstance, database: Database, run: DagsterRun, chosen: Settings) -> Iterator[Event]:
    """What a night that ended gives rise to."""
    root = root_of_night(run, database)
    board = boards.latest(database, root) if runs.exists(database, root) else None
    if board is None:
        yield events.no_board(run.run_id, run.status.value)
    else:
        since = history.last_green(database, root) if board["state"] == "RED" else None
        yield from events.of_board(board, chosen.budget_usd, since.isoformat() if since else None)
        decision = gate_of(database, root, chosen, strict=is_strict(run, chosen.strict))
        if not decision.released:
            yield events.not_released(root, decision.reasons)
        told = [
            str(offence)
            for item in load_suite(chosen.datasets)
            for offence in stale_intermittents(item, database, board["model"])
        ]
        if told:
            yield events.stale(root, told)
    silent = sorted(silent_checks(instance, run.run_id))
    if silent:
        yield events.not_evaluated(run.run_id, silent)


def silent_checks(instance: DagsterInstance, run_id: str) -> set[str]:
    """The checks that a run planned and that left no answer, as ``asset: check``."""
    planned, evaluated = set(), set()
    kinds = {DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED, DagsterEventType.ASSET_CHECK_EVALUATION}
    for entry in instance.all_logs(run_id, of_type=kinds):
        event = entry.dagster_event
        if event is None:
            continue
        if event.event_type is DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED:
            data = event.asset_check_planned_data
            planned.add(f"{data.asset_key.to_user_string()}: {data.check_name}")
        else:
            found = event.asset_check_evaluation_data
            evaluated.add(f"{found.asset_key.to_user_string()}: {found.check_name}")
    return planned - evaluated


def sensors() -> list[dg.SensorDefinition]:
    """The sensors of this deployment."""
    return [alerts_sensor(settings())]
