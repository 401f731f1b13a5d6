"""The schedule of the nights: both changes of daylight saving, a night that is still running, one that was missed."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster import DagsterInstance, DagsterRunStatus
from dagster._core.test_utils import create_run_for_test

from eval_pipeline.definitions import defs
from eval_pipeline.deployment.nights import UNDER_WAY, nightly_schedule
from eval_pipeline.deployment.request import RunRequest, is_strict
from eval_pipeline.errors import ConfigError
from eval_pipeline.settings import Settings, settings

BERLIN = ZoneInfo("Europe/Berlin")
DUE = datetime(2026, 12, 2, 2, 30, tzinfo=BERLIN)


def schedule(now: datetime = DUE, **changes: object) -> dg.ScheduleDefinition:
    chosen = Settings(**{"nightly_cron": "30 2 * * *", "time_zone": "Europe/Berlin"} | changes)
    return nightly_schedule(chosen, now=lambda: now)


def nights(first: date, last: date) -> list[datetime]:
    """The instants of the nights from the beginning of one day to the end of another, in UTC."""
    begin = datetime(first.year, first.month, first.day, tzinfo=BERLIN)
    end = datetime(last.year, last.month, last.day, tzinfo=BERLIN) + timedelta(days=1)
    return [tick.astimezone(UTC) for tick in takewhile(lambda tick: tick < end, _ticks(begin))]


def _ticks(begin: datetime) -> Iterator[datetime]:
    from dagster._utils.schedules import schedule_execution_time_iterator

    found = schedule()
    return schedule_execution_time_iterator(begin.timestamp(), found.cron_schedule, found.execution_timezone)


def test_in_spring_the_hour_that_is_not_there_is_the_next_one_that_is() -> None:
    found = nights(date(2027, 3, 27), date(2027, 3, 29))
    assert found == [
        datetime(2027, 3, 27, 1, 30, tzinfo=UTC),  # 02:30 in winter time
        datetime(2027, 3, 28, 1, 0, tzinfo=UTC),  # 02:30 is skipped: 03:00 in summer time
        datetime(2027, 3, 29, 0, 30, tzinfo=UTC),  # 02:30 in summer time
    ]


def test_in_autumn_the_hour_that_comes_twice_is_taken_once() -> None:
    found = nights(date(2027, 10, 30), date(2027, 11, 1))
    assert [tick.astimezone(BERLIN).date() for tick in found] == [
        date(2027, 10, 30),
        date(2027, 10, 31),
        date(2027, 11, 1),
    ]
    assert all(tick.astimezone(BERLIN).time().isoformat() == "02:30:00" for tick in found)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[DagsterInstance]:
    with DagsterInstance.local_temp(str(tmp_path)) as found:
        yield found


def evaluated(instance: DagsterInstance, found: dg.ScheduleDefinition, due: datetime = DUE) -> object:
    context = dg.build_schedule_context(instance=instance, scheduled_execution_time=due)
    (item,) = found(context)
    return item


def test_a_night_that_is_due_is_asked_for_once_by_its_instant(instance: DagsterInstance) -> None:
    one, again = evaluated(instance, schedule()), evaluated(instance, schedule(DUE + timedelta(minutes=90)))
    assert isinstance(one, dg.RunRequest)
    assert isinstance(again, dg.RunRequest)
    assert one.run_key == again.run_key == "2026-12-02T01:30:00+00:00"
    assert one.tags["eval/night"] == "2026-12-02"


@pytest.mark.parametrize("status", [status for status in UNDER_WAY if status is not DagsterRunStatus.QUEUED])
def test_a_night_that_is_still_running_is_not_overtaken(instance: DagsterInstance, status: DagsterRunStatus) -> None:
    run = create_run_for_test(instance, job_name="nightly", status=status)
    found = evaluated(instance, schedule())
    assert isinstance(found, dg.SkipReason)
    assert run.run_id in str(found.skip_message)


def test_a_queued_night_counts_as_one_that_is_under_way() -> None:
    assert DagsterRunStatus.QUEUED in UNDER_WAY  # none can be made without a code location that it comes from


@pytest.mark.parametrize(
    ("job", "status"),
    [
        ("nightly", DagsterRunStatus.SUCCESS),
        ("nightly", DagsterRunStatus.FAILURE),
        ("nightly", DagsterRunStatus.CANCELED),
        ("structure", DagsterRunStatus.STARTED),
    ],
)
def test_what_has_ended_or_is_another_job_holds_no_night_back(
    instance: DagsterInstance, job: str, status: DagsterRunStatus
) -> None:
    create_run_for_test(instance, job_name=job, status=status)
    assert isinstance(evaluated(instance, schedule()), dg.RunRequest)


def test_a_night_that_was_missed_by_hours_is_told_and_not_run(instance: DagsterInstance) -> None:
    found = evaluated(instance, schedule(DUE + timedelta(hours=6)))
    assert isinstance(found, dg.SkipReason)
    assert "was missed: it is 6.0 hours late" in str(found.skip_message)


def test_the_schedule_is_on_by_itself_only_where_a_time_was_chosen() -> None:
    assert schedule().default_status is dg.DefaultScheduleStatus.RUNNING
    off = schedule(nightly_cron=None)
    assert (off.default_status, off.cron_schedule) == (dg.DefaultScheduleStatus.STOPPED, "30 2 * * *")
    assert off.execution_timezone == "Europe/Berlin"


@pytest.fixture
def strictness(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Settings]:
    """The settings of an environment that has these values of EVAL_STRICT and EVAL_NIGHTLY_STRICT, or none."""
    for name, value in zip(("EVAL_STRICT", "EVAL_NIGHTLY_STRICT"), request.param, strict=True):
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    yield settings()
    monkeypatch.undo()
    settings.cache_clear()


@pytest.mark.parametrize(
    ("strictness", "night_is", "by_hand_is"),
    [(("", ""), False, False), (("", "1"), True, False), (("1", ""), True, True), (("1", "0"), False, True)],
    indirect=["strictness"],
)
def test_a_night_by_schedule_has_a_strictness_of_its_own_and_a_run_by_hand_has_not(
    instance: DagsterInstance, strictness: Settings, night_is: bool, by_hand_is: bool
) -> None:
    night = evaluated(instance, nightly_schedule(strictness, now=lambda: DUE))
    assert isinstance(night, dg.RunRequest)
    assert dg.validate_run_config(defs().resolve_job_def("nightly"), night.run_config)
    asked = RunRequest(**night.run_config["resources"]["request"]["config"])
    assert (asked.is_strict, RunRequest().is_strict) == (night_is, by_hand_is)
    begun = create_run_for_test(instance, job_name="nightly", run_config=night.run_config)
    by_hand = create_run_for_test(instance, job_name="nightly")
    assert [is_strict(run, otherwise=strictness.strict) for run in (begun, by_hand)] == [night_is, by_hand_is]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("EVAL_TIME_ZONE", "Europe/Atlantis", "EVAL_TIME_ZONE: there is no time zone 'Europe/Atlantis'"),
        ("EVAL_NIGHTLY_CRON", "half past two", "EVAL_NIGHTLY_CRON: 'half past two' is no cron expression"),
    ],
)
def test_a_time_that_is_none_is_refused_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(name, value)
    settings.cache_clear()
    with pytest.raises(ConfigError, match=told):
        settings()
    monkeypatch.undo()
    settings.cache_clear()
