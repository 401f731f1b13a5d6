"""Celery over a real broker: a killed worker loses nothing, repeats nothing and leaves nothing hanging."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import dagster as dg
import psycopg
import pytest
from dagster._core.events import DagsterEventType
from psycopg import sql

from bench import celery as proof
from eval_pipeline.deployment import celery_worker
from eval_pipeline.deployment.celery_worker import StepLost, StepTask, n_workers, worker_app
from eval_pipeline.errors import ConfigError
from eval_pipeline.postgres import Server
from eval_pipeline.settings import PROJECT, Settings
from eval_pipeline.storage import prepare_ledger
from tests.cli import warm_start

N = 200

pytestmark = pytest.mark.filterwarnings("ignore:Task name")  # dagster-celery declares its task for each application


@pytest.fixture
def environment(postgres_server: Server, database_url: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Of the processes: empty databases, and the Bookkeeper's dataset cut to 200 examples."""
    name = f"ledger_{uuid4().hex}"
    ledger_url = postgres_server.database_url(name)
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        prepare_ledger(ledger_url)
        proof.write_dataset(tmp_path / "datasets", N)
        keep = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
        yield keep | {
            "EVAL_DATABASE_URL": database_url,
            "EVAL_LEDGER_URL": ledger_url,
            "EVAL_DATASETS": str(tmp_path / "datasets"),
            "EVAL_HOME": str(tmp_path / "home"),
        }
        connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


@pytest.mark.timeout(400)
def test_a_worker_killed_in_the_middle_of_a_shard_loses_nothing_and_repeats_nothing(
    broker_binary: Path, environment: dict[str, str]
) -> None:
    """H15: 200 real examples in 8 shards over two workers: the board is that of a single process."""
    code, alone, told = warm_start.run(("eval_pipeline", "run", "bookkeeper", "--json"), PROJECT, environment, 100)
    assert code == 0, told
    found = proof.prove(broker_binary, environment, N)
    assert list(proof.problems(found, proof.json.loads(alone), N)) == []
    assert found.status == "SUCCESS"
    assert found.seconds < proof.TERMINAL_S
    assert found.board["agents"][0]["n_graded"] == N
    assert (found.board["state"], found.board["partial"]) == ("GREEN", False)


def chosen(url: str, **values: Any) -> Settings:
    return Settings.model_validate({"celery_broker": url, **values})


def test_a_task_in_hand_stays_with_a_worker_that_lives_and_leaves_one_that_does_not(broker_url: str) -> None:
    """A shard may take hours; what decides is whether its worker gives a sign of life."""
    app = worker_app(chosen(broker_url, celery_visibility_s=3))
    with app.connection_for_write() as sending:
        sending.SimpleQueue("dagster").put({"a": "task"})
    with app.connection_for_read() as reading:
        channel = reading.default_channel
        assert channel.basic_get("dagster") is not None
        (tag,) = channel.qos._delivered
        consumer = SimpleNamespace(task_consumer=SimpleNamespace(channel=channel))
        index = channel.qos.unacked_index_key

        def restored() -> bool:
            channel.qos.restore_visible(interval=1)
            return channel.client.zscore(index, tag) is None

        channel.client.zadd(index, {tag: 1.0})  # in hand since 1970
        celery_worker._prolong(consumer)
        assert not restored()
        channel.client.zadd(index, {tag: 1.0})
        assert restored()
        again = channel.basic_get("dagster")
        assert again is not None
        assert again.headers["redelivered"] is True


def test_a_worker_that_has_nothing_in_hand_prolongs_nothing(broker_url: str) -> None:
    app = worker_app(chosen(broker_url))
    with app.connection_for_read() as reading:
        channel = reading.default_channel
        celery_worker._prolong(SimpleNamespace(task_consumer=SimpleNamespace(channel=channel)))
        assert channel.client.exists(channel.qos.unacked_index_key) == 0


def test_a_worker_acknowledges_late_and_holds_one_task(broker_url: str) -> None:
    app = worker_app(chosen(broker_url))
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1
    assert isinstance(app.tasks["execute_plan"], StepTask)


def test_a_worker_without_a_broker_names_the_variable() -> None:
    with pytest.raises(ConfigError, match="needs EVAL_CELERY_BROKER"):
        worker_app(Settings())


@dg.op
def count() -> None: ...


@dg.job
def counting() -> None:
    count()


def begun(instance: dg.DagsterInstance, *kinds: DagsterEventType) -> str:
    """A run in which these events of the step were seen."""
    run = instance.create_run_for_job(counting)
    for kind in kinds:
        event = dg.DagsterEvent(kind.value, "counting", step_key="count")
        instance.report_dagster_event(event, run.run_id)
    return run.run_id


START, RETRY, RESTART = (
    DagsterEventType.STEP_START,
    DagsterEventType.STEP_UP_FOR_RETRY,
    DagsterEventType.STEP_RESTARTED,
)


def test_a_step_that_took_three_workers_with_it_ends_the_run_instead_of_a_fourth() -> None:
    """H17: what is always lost is not queued for ever."""
    with dg.DagsterInstance.ephemeral() as instance:
        celery_worker._require_hope(instance, begun(instance, START, START), "count")
        celery_worker._require_hope(instance, begun(instance, START, START, RETRY, RESTART), "count")
        with pytest.raises(StepLost, match="step count began 3 times, and its worker was gone each time"):
            celery_worker._require_hope(instance, begun(instance, START, START, START), "count")


def test_a_step_of_a_run_that_has_ended_is_not_executed(broker_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its task was in the queue, or in hand of a worker that died: what it would call is for nobody."""
    executed: list[Any] = []
    task = worker_app(chosen(broker_url)).tasks["execute_plan"]
    monkeypatch.setattr(task, "run", lambda *given: executed.append(given) or ["events"])
    with dg.DagsterInstance.ephemeral() as instance:
        run_id = begun(instance)
        step = SimpleNamespace(step_keys_to_execute=["count"], instance_ref=None, run_id=run_id)
        monkeypatch.setattr(celery_worker, "unpack_value", lambda packed, as_type: step)
        monkeypatch.setattr(celery_worker.DagsterInstance, "from_ref", lambda _: instance)
        monkeypatch.setattr(type(instance), "__exit__", lambda *_: None)
        assert task(None, {}) == ["events"]
        run = instance.get_run_by_id(run_id)
        assert run is not None
        instance.report_run_failed(run, "it was ended")
        assert task(None, {}) == []
    assert executed == [(None, {})]


def test_a_command_knows_whether_a_broker_and_workers_are_there(broker_url: str) -> None:
    """Else it would wait for ever without a word."""
    assert n_workers(chosen(broker_url)) == 0
    with pytest.raises(ConfigError, match=r"no broker answers at 127\.0\.0\.1:1 \(EVAL_CELERY_BROKER\)") as refused:
        n_workers(chosen("redis://:hunter2@127.0.0.1:1/0"))
    assert "hunter2" not in str(refused.value)
