"""Where steps run is a setting; what an executor needs and does not have is said in one sentence."""

import signal
import sys
import time
from typing import Any

import dagster as dg
import psutil
import psycopg
import pytest

from eval_pipeline.deployment.executors import (
    PRELOADED,
    celery_config,
    celery_executor_config,
    executor_of,
    forked_unless_told,
)
from eval_pipeline.errors import ConfigError
from eval_pipeline.settings import Settings
from tests.cli.agents import ADDER, adding
from tests.cli.project import Project

BROKER = "redis://:hunter2@broker:6379/0"
GRAPH = "bookkeeping/agents/adder/graph.py"
SUM = 'return {"total": state["left"] + state["right"]}'


def chosen(**values: Any) -> Settings:
    return Settings.model_validate(values)


def job(executor: dg.ExecutorDefinition) -> dg.JobDefinition:
    @dg.op
    def nothing() -> None: ...

    @dg.graph
    def single() -> None:
        nothing()

    return single.to_job(executor_def=executor)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({}, "multi_or_in_process_executor"),
        ({"executor": "in_process"}, "in_process"),
        ({"executor": "multiprocess"}, "multiprocess"),
        ({"executor": "celery", "celery_broker": BROKER}, "celery"),
    ],
)
def test_the_setting_names_the_executor(values: dict[str, Any], name: str) -> None:
    assert executor_of(chosen(**values)).name == name


def test_processes_are_forked_from_a_server_unless_a_run_says_otherwise() -> None:
    forked = {"multiprocess": {"start_method": {"forkserver": {"preload_modules": PRELOADED}}, "max_concurrent": 3}}
    assert forked_unless_told({"multiprocess": {"max_concurrent": 3}}) == forked
    assert forked_unless_told({"in_process": {}}) == {"in_process": {}}
    spawned = {"multiprocess": {"start_method": {"spawn": {}}}}
    assert forked_unless_told(spawned) == spawned


def test_a_run_may_ask_for_its_own_process() -> None:
    asked = {"execution": {"config": {"in_process": {}}}}
    assert dg.validate_run_config(job(executor_of(chosen())), asked)
    with pytest.raises(dg.DagsterInvalidConfigError):
        dg.validate_run_config(job(executor_of(chosen())), {"execution": {"config": {"on_the_moon": {}}}})


@pytest.mark.parametrize(
    ("executor", "module", "told"),
    [
        ("celery", "dagster_celery", r"EVAL_EXECUTOR=celery needs .*pip install 'eval-pipeline\[celery\]'"),
        ("k8s", "dagster_k8s", r"EVAL_EXECUTOR=k8s needs .*pip install 'eval-pipeline\[k8s\]'"),
    ],
)
def test_an_executor_that_is_not_installed_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, executor: str, module: str, told: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=told):
        executor_of(chosen(executor=executor, celery_broker=BROKER))


def test_celery_without_a_broker_names_the_variable() -> None:
    with pytest.raises(ConfigError, match="needs EVAL_CELERY_BROKER"):
        executor_of(chosen(executor="celery"))


def test_an_unknown_executor_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(ValueError, match="'in_process', 'multiprocess', 'celery' or 'k8s'"):
        chosen(executor="threads")


def test_the_addresses_of_celery_are_named_and_not_written_into_a_runs_configuration() -> None:
    config = celery_executor_config(chosen(executor="celery", celery_broker=BROKER, celery_backend=BROKER))
    assert config["broker"] == {"env": "EVAL_CELERY_BROKER"}
    assert config["backend"] == {"env": "EVAL_CELERY_BACKEND"}
    assert "hunter2" not in repr(config)
    assert celery_executor_config(chosen(celery_broker=BROKER))["backend"] == {"env": "EVAL_CELERY_BROKER"}


def test_what_a_dead_celery_worker_had_goes_back_to_the_queue() -> None:
    """The settings without which a killed worker's step is lost and its run hangs."""
    config = celery_config(chosen(celery_visibility_s=40))
    assert config["task_acks_late"] is True
    assert config["task_reject_on_worker_lost"] is True
    assert config["worker_prefetch_multiplier"] == 1
    assert config["broker_transport_options"]["visibility_timeout"] == 40
    assert config["broker_transport_options"]["unacked_restore_interval"] == 10
    assert config["broker_transport_options"]["unacked_restore_throttle"] == 1


def fetched(project: Project, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(project.environment["EVAL_DATABASE_URL"]) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.timeout(400)
@pytest.mark.xdist_group("shards")
def test_steps_in_processes_make_the_board_and_none_outlives_a_command_that_is_killed(project: Project) -> None:
    """A step that lives on would call a model for a run that nobody reads; what it stored before is kept."""
    project.edit(GRAPH, SUM, f"import time\n    time.sleep(0.3)\n    {SUM}")
    project.dataset(ADDER, [adding(f"sum-{n}", n, n) for n in range(24)])
    processes = {"EVAL_EXECUTOR": "multiprocess", "EVAL_SHARDS": "2"}
    running = project.start("run", "--json", EVAL_CONCURRENCY="1", **processes)
    deadline = time.monotonic() + 100
    while len(fetched(project, "select example_id from results.outcomes")) < 4:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    children = psutil.Process(running.pid).children(recursive=True)
    assert len([child for child in children if child.is_running()]) >= 3  # the fork server and two shards
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    _, alive = psutil.wait_procs(children, 20)
    assert alive == []
    ((run_id, _),) = fetched(project, "select run_id, created_at from results.runs")
    kept = dict(fetched(project, "select example_id, started_at from results.outcomes"))
    assert 4 <= len(kept) < 24

    resumed = project.run("run", "--resume", run_id, "--json", EVAL_CONCURRENCY="12", **processes)
    assert (resumed.code, resumed.json["state"], resumed.json["partial"]) == (0, "GREEN", False)
    now = dict(fetched(project, "select example_id, started_at from results.outcomes"))
    assert len(now) == 24
    assert {example: now[example] for example in kept} == kept
    forked = fetched(project, "select count(*) from event_logs where dagster_event_type = 'STEP_WORKER_STARTED'")
    assert forked[0][0] >= 8
