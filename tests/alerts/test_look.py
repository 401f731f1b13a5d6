"""The sensor's look at an instance of Dagster: history is no news; a night without a board, one that did not begin."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from dagster import DagsterInstance, DagsterRunStatus
from dagster._core.test_utils import create_run_for_test

from eval_pipeline.board import ExampleBoard
from eval_pipeline.deployment.alerting import last_due, look_and_send
from eval_pipeline.results import Database, boards
from eval_pipeline.settings import Settings
from eval_pipeline.verdict import Verdict
from tests import build
from tests.alerts.receiver import Receiver


def night(instance: DagsterInstance, status: DagsterRunStatus = DagsterRunStatus.FAILURE) -> str:
    return str(create_run_for_test(instance, job_name="nightly", status=status).run_id)


def chosen(receiver: Receiver, **changes: object) -> Settings:
    return Settings(**{"alert_urls": [receiver.url]} | changes)


def test_what_happened_before_the_first_look_is_history(
    instance: DagsterInstance, box: Database, receiver: Receiver
) -> None:
    night(instance)
    assert look_and_send(instance, box, chosen(receiver)) == "all is told"
    assert receiver.taken == []


def test_a_night_that_ended_without_a_board_is_told_once(
    instance: DagsterInstance, box: Database, receiver: Receiver
) -> None:
    look_and_send(instance, box, chosen(receiver))
    failed = night(instance)
    create_run_for_test(instance, job_name="structure", status=DagsterRunStatus.FAILURE)
    night(instance, DagsterRunStatus.STARTED)
    for _ in range(3):
        assert look_and_send(instance, box, chosen(receiver)) == "all is told"
    assert receiver.titles == [f"the night {failed} ended FAILURE without a board"]


@pytest.mark.parametrize("ui_url", ["https://evals.example.com", "https://evals.example.com/"])
def test_an_alert_ends_with_the_link_to_the_board(
    instance: DagsterInstance, box: Database, receiver: Receiver, ui_url: str
) -> None:
    look_and_send(instance, box, chosen(receiver))
    night(instance)
    look_and_send(instance, box, chosen(receiver, ui_url=ui_url))
    assert [body.splitlines()[-1] for _, body in receiver.taken] == ["https://evals.example.com/assets/board"]


def test_without_an_address_nothing_is_sent_and_nothing_is_lost(
    instance: DagsterInstance, box: Database, receiver: Receiver
) -> None:
    look_and_send(instance, box, Settings())
    night(instance)
    assert "EVAL_ALERT_URLS is not set" in look_and_send(instance, box, Settings())
    assert look_and_send(instance, box, chosen(receiver)) == "all is told"
    assert len(receiver.taken) == 1


def test_a_night_that_did_not_begin_is_told_once(instance: DagsterInstance, box: Database, receiver: Receiver) -> None:
    with_time = chosen(receiver, nightly_cron="30 2 * * *", time_zone="Europe/Berlin")
    now = datetime.now(UTC) + timedelta(days=3)
    look_and_send(instance, box, with_time, now)
    for _ in range(2):
        look_and_send(instance, box, with_time, now)
    due = last_due(with_time, now - timedelta(hours=2)).astimezone(UTC).isoformat()
    assert receiver.titles == [f"the night of {due} did not run"]


def test_a_night_that_began_late_or_ran_on_is_not_missed(
    instance: DagsterInstance, box: Database, receiver: Receiver
) -> None:
    with_time = chosen(receiver, nightly_cron="30 2 * * *")
    night(instance, DagsterRunStatus.STARTED)
    now = datetime.now(UTC) + timedelta(hours=1)
    for _ in range(2):
        look_and_send(instance, box, with_time, now)
    assert receiver.taken == []


def test_the_last_night_that_was_due_is_by_its_own_time_zone() -> None:
    berlin = Settings(nightly_cron="30 2 * * *", time_zone="Europe/Berlin")
    assert last_due(berlin, datetime(2026, 12, 2, 1, 29, tzinfo=UTC)) == datetime(2026, 12, 1, 1, 30, tzinfo=UTC)
    assert last_due(berlin, datetime(2026, 12, 2, 1, 31, tzinfo=UTC)) == datetime(2026, 12, 2, 1, 30, tzinfo=UTC)


def test_a_night_that_another_run_takes_up_is_told_by_that_one(
    instance: DagsterInstance, box: Database, receiver: Receiver
) -> None:
    look_and_send(instance, box, chosen(receiver))
    lost = night(instance)
    instance.add_run_tags(lost, {"dagster/will_retry": "true"})
    assert look_and_send(instance, box, chosen(receiver)) == "all is told"
    instance.add_run_tags(lost, {"dagster/auto_retry_run_id": "the next"})
    look_and_send(instance, box, chosen(receiver), datetime.now(UTC) + timedelta(hours=2))
    assert receiver.taken == []


def test_a_night_that_was_to_be_taken_up_and_was_not_is_told_after_an_hour(
    instance: DagsterInstance, box: Database, receiver: Receiver
) -> None:
    look_and_send(instance, box, chosen(receiver))
    lost = night(instance)
    instance.add_run_tags(lost, {"dagster/will_retry": "true"})
    look_and_send(instance, box, chosen(receiver), datetime.now(UTC) + timedelta(minutes=59))
    assert receiver.taken == []
    look_and_send(instance, box, chosen(receiver), datetime.now(UTC) + timedelta(minutes=61))
    assert receiver.titles == [f"the night {lost} ended FAILURE without a board"]


def test_a_night_that_resumes_another_is_told_by_the_board_of_its_root(
    instance: DagsterInstance, box: Database, receiver: Receiver
) -> None:
    look_and_send(instance, box, chosen(receiver))
    build.start_run(box)
    red = ExampleBoard(build.AGENT, "example-1", Verdict.XPASS, "it appears fixed", {}, (), (), ("answer_correct",))
    board = {
        "run_id": build.RUN,
        "state": "RED",
        "partial": False,
        "model": None,
        "agents": [],
        "examples": [red.as_json()],
    }
    boards.add(box, build.RUN, "RED", json.dumps(board), partial=False)
    config = {"resources": {"request": {"config": {"resume": build.RUN}}}}
    for _ in range(3):
        create_run_for_test(instance, job_name="nightly", status=DagsterRunStatus.FAILURE, run_config=config)
        look_and_send(instance, box, chosen(receiver))
    assert sum("appear fixed" in title for title in receiver.titles) == 1
    assert receiver.titles[0] == "1 recorded defects appear fixed: take their markers away"
    assert not any("without a board" in title for title in receiver.titles)
