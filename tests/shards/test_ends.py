"""How a step hears that its run is over, and what a command clears away that killed commands left."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from eval_pipeline.deployment import watch
from eval_pipeline.deployment.leftovers import clear_leftovers
from eval_pipeline.deployment.request import ROOT_TAG, RunRequest
from eval_pipeline.deployment.watch import WATCH, run_ended
from eval_pipeline.results import Database
from eval_pipeline.results.lease import claimed_run
from eval_pipeline.settings import settings

STARTED, FAILURE = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.FAILURE


@dg.op(pool="agents")
def count() -> None: ...


@dg.job
def counting() -> None:
    count()


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as made:
        yield made


def started(instance: dg.DagsterInstance, root: str | None = None) -> dg.DagsterRun:
    """A run in progress; with a root, one that a command has made."""
    tags = {} if root is None else {ROOT_TAG: root}
    return instance.create_run_for_job(counting, status=STARTED, tags=tags)


def status(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status


def step(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Any:
    return SimpleNamespace(instance=instance, run_id=run.run_id)


def test_a_step_goes_on_while_its_run_does(instance: dg.DagsterInstance) -> None:
    assert run_ended(step(instance, started(instance)))() is False


def test_a_step_stops_when_its_run_is_being_cancelled_or_has_failed(instance: dg.DagsterInstance) -> None:
    cancelled, failed = started(instance), started(instance)
    instance.report_run_canceling(cancelled)
    instance.report_run_failed(failed)
    assert run_ended(step(instance, cancelled))() is True
    assert run_ended(step(instance, failed))() is True


def test_a_step_looks_now_and_then_and_not_before_each_example(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(watch.time, "monotonic", lambda: now[0])
    run = started(instance)
    should_stop = run_ended(step(instance, run))
    assert should_stop() is False
    instance.report_run_failed(run)
    now[0] += watch.LOOK_S / 2
    assert should_stop() is False
    now[0] += watch.LOOK_S
    assert should_stop() is True


def test_a_process_that_was_interrupted_stops_without_looking(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    should_stop = run_ended(step(instance, started(instance)))
    monkeypatch.setattr(WATCH, "interrupted", SimpleNamespace(is_set=lambda: True))
    assert should_stop() is True


def test_the_run_of_a_command_that_is_gone_is_failed_and_those_that_live_are_left_alone(
    instance: dg.DagsterInstance, results: Database
) -> None:
    gone, before, nightly, alive = (
        started(instance, "gone"),
        started(instance, "mine"),
        started(instance),
        started(instance, "alive"),
    )
    with (
        Database(results.url) as mine,
        Database(results.url) as theirs,
        claimed_run(mine, "mine"),
        claimed_run(theirs, "alive"),
    ):
        clear_leftovers(instance, results, "mine")
    assert [status(instance, run) for run in (gone, before)] == [FAILURE, FAILURE]
    assert [status(instance, run) for run in (nightly, alive)] == [STARTED, STARTED]


def test_slots_of_a_pool_are_given_back_for_runs_that_have_ended_alone(
    instance: dg.DagsterInstance, results: Database
) -> None:
    """Else whoever comes after two killed runs waits for ever."""
    storage = instance.event_log_storage
    storage.set_concurrency_slots("agents", 2)
    ended, alive = started(instance), started(instance)
    for run in (ended, alive):
        assert storage.claim_concurrency_slot("agents", run.run_id, "count").is_claimed
    instance.report_run_failed(ended)
    clear_leftovers(instance, results, "mine")
    assert storage.get_concurrency_info("agents").active_run_ids == {alive.run_id}


def test_a_request_says_how_many_shards_and_else_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_SHARDS", "5")
    settings.cache_clear()
    try:
        assert RunRequest().n_shards == 5
        assert RunRequest(shards=3).n_shards == 3
        assert json.loads(RunRequest(shards=3).model_dump_json())["shards"] == 3
    finally:
        settings.cache_clear()
