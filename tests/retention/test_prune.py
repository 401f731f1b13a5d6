"""What is deleted from the two databases, and what stays though it is old."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from dagster import DagsterInstance, DagsterRunStatus
from dagster._core.test_utils import create_run_for_test

from eval_pipeline.deployment.request import ROOT_TAG
from eval_pipeline.deployment.retention import prune, retention_schedule
from eval_pipeline.results import Database, boards, outcomes, runs
from eval_pipeline.results.lease import claimed_run
from eval_pipeline.settings import Settings
from tests import build

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
def dagster(tmp_path):
    with DagsterInstance.local_temp(str(tmp_path)) as instance:
        yield instance


def stored(results, run_id, days):
    """A whole run with a board, so many days ago."""
    at = NOW - timedelta(days=days)
    build.start_run(results, run_id=run_id, created_at=at)
    outcomes.add(results, [outcomes.encoded(build.outcome(run_id=run_id))])
    boards.add(results, run_id, "RED", "{}", partial=False)
    with results.transaction() as db:
        db.execute("update results.runs set finished_at = %s where run_id = %s", (at, run_id))


def left(results):
    with results.transaction() as db:
        db.execute("select run_id from results.runs order by run_id")
        there = [row["run_id"] for row in db.fetchall()]
        db.execute("select distinct run_id from results.outcomes order by run_id")
        assert [row["run_id"] for row in db.fetchall()] == there
    return there


@pytest.fixture
def history(results):
    """Four runs: of a year ago, of 40 and 31 days ago, and of yesterday."""
    for run_id, days in (("year", 365), ("forty", 40), ("month", 31), ("yesterday", 1)):
        stored(results, run_id, days)
    return results


def test_old_outcomes_go_with_all_that_hangs_on_them(history, dagster):
    done = prune(dagster, history, Settings(keep_outcomes_days=35), now=NOW)
    assert done.outcomes == ("year", "forty")
    assert left(history) == ["month", "yesterday"]
    assert prune(dagster, history, Settings(keep_outcomes_days=35), now=NOW).outcomes == ()


def test_without_a_setting_everything_is_kept_and_a_dry_run_deletes_nothing(history, dagster):
    assert prune(dagster, history, Settings(), now=NOW).outcomes == ()
    assert prune(dagster, history, Settings(keep_outcomes_days=35), now=NOW, dry_run=True).outcomes == ("year", "forty")
    assert len(left(history)) == 4


def test_a_run_that_somebody_works_on_stays(history, dagster):
    with Database(history.url) as other, claimed_run(other, "year"):
        assert prune(dagster, history, Settings(keep_outcomes_days=35), now=NOW).outcomes == ("forty",)
    create_run_for_test(dagster, job_name="nightly", status=DagsterRunStatus.STARTED, tags={ROOT_TAG: "year"})
    assert prune(dagster, history, Settings(keep_outcomes_days=35), now=NOW).outcomes == ()
    assert "year" in left(history)


def test_two_at_once_delete_each_run_once(history, dagster):
    gone = []

    def one():
        with Database(history.url) as database:
            gone.extend(prune(dagster, database, Settings(keep_outcomes_days=20), now=NOW).outcomes)

    both = [threading.Thread(target=one) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sorted(gone) == ["forty", "month", "year"]
    assert left(history) == ["yesterday"]


def test_old_runs_of_dagster_go_with_their_events_and_those_of_the_newest_whole_run_stay(results, dagster):
    build.start_run(results, run_id="root")
    boards.add(results, "root", "GREEN", "{}", partial=False)
    runs.finish(results, "root", interrupted=False)
    old = create_run_for_test(dagster, job_name="structure", status=DagsterRunStatus.SUCCESS)
    needed = create_run_for_test(dagster, job_name="nightly", status=DagsterRunStatus.SUCCESS, tags={ROOT_TAG: "root"})
    running = create_run_for_test(dagster, job_name="nightly", status=DagsterRunStatus.STARTED)
    later = datetime.now(UTC) + timedelta(days=10)
    done = prune(dagster, results, Settings(keep_runs_days=8), now=later)
    assert done.runs == (old.run_id,)
    assert {run.run_id for run in dagster.get_runs()} == {needed.run_id, running.run_id}
    assert dagster.all_logs(old.run_id) == []


@pytest.mark.parametrize(
    ("chosen", "status"), [({}, "STOPPED"), ({"keep_runs_days": 90}, "RUNNING"), ({"keep_outcomes_days": 9}, "RUNNING")]
)
def test_the_schedule_is_on_where_something_is_set(chosen, status):
    assert retention_schedule(Settings(**chosen)).default_status.value == status
