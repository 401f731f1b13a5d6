"""Whether the process of a run lives: asked of its code server, or of the claim that its command holds."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.launcher import WorkerStatus
from dagster._core.test_utils import create_run_for_test, instance_for_test
from dagster._grpc.types import CanCancelExecutionResult
from dagster._serdes import serialize_value

from eval_pipeline.deployment import launcher
from eval_pipeline.deployment.launcher import WatchedRunLauncher
from eval_pipeline.deployment.request import ROOT_TAG
from eval_pipeline.results import Database
from eval_pipeline.results.lease import claimed_run
from eval_pipeline.settings import settings

CONFIG = {"run_launcher": {"module": "eval_pipeline.deployment.launcher", "class": "WatchedRunLauncher"}}
BY_A_SERVER = {".dagster/grpc_info": '{"host": "localhost", "socket": "/nowhere"}'}


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[DagsterInstance]:
    with instance_for_test(overrides=CONFIG, temp_dir=str(tmp_path)) as found:
        yield found


def started(instance: DagsterInstance, **tags: str) -> DagsterRun:
    return create_run_for_test(instance, job_name="nightly", status=DagsterRunStatus.STARTED, tags=tags)


def status(instance: DagsterInstance, run: DagsterRun) -> WorkerStatus:
    found: WorkerStatus = instance.run_launcher.check_run_worker_health(run).status
    return found


class Server:
    """A code server on the wire: what it says of a run, or that it does not answer."""

    def __init__(self, knows: bool | None) -> None:
        self.knows = knows

    def can_cancel_execution(self, *_: object, **__: object) -> str:
        if self.knows is None:
            raise DagsterUserCodeUnreachableError("UNAVAILABLE")
        return serialize_value(CanCancelExecutionResult(can_cancel=self.knows))


def test_the_daemon_asks_the_launcher(instance: DagsterInstance) -> None:
    assert isinstance(instance.run_launcher, WatchedRunLauncher)
    assert instance.run_launcher.supports_check_run_worker_health


@pytest.mark.parametrize(("knows", "expected"), [(True, WorkerStatus.RUNNING), (False, WorkerStatus.NOT_FOUND)])
def test_a_run_lives_as_long_as_its_code_server_knows_it(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch, knows: bool, expected: WorkerStatus
) -> None:
    monkeypatch.setattr(WatchedRunLauncher, "_get_grpc_client_for_termination", lambda *_: Server(knows))
    assert status(instance, started(instance, **BY_A_SERVER)) is expected


def test_a_code_server_that_is_gone_is_asked_for_a_minute(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(launcher.time, "monotonic", lambda: clock[0])
    run = started(instance, **BY_A_SERVER)
    server = Server(None)
    monkeypatch.setattr(WatchedRunLauncher, "_get_grpc_client_for_termination", lambda *_: server)
    assert status(instance, run) is WorkerStatus.RUNNING
    clock[0] += 59
    assert status(instance, run) is WorkerStatus.RUNNING
    server.knows = True
    assert status(instance, run) is WorkerStatus.RUNNING
    server.knows = None  # the minute begins anew
    assert status(instance, run) is WorkerStatus.RUNNING
    clock[0] += 60
    assert status(instance, run) is WorkerStatus.NOT_FOUND


def test_a_server_that_is_not_there_is_one_that_does_not_answer(
    instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(instance, **BY_A_SERVER)
    assert status(instance, run) is WorkerStatus.RUNNING
    monkeypatch.setattr(launcher, "GONE_AFTER_S", 0.0)
    assert status(instance, run) is WorkerStatus.NOT_FOUND


def test_a_run_of_the_command_line_lives_as_long_as_its_command(
    instance: DagsterInstance, results: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_DATABASE_URL", results.url)
    settings.cache_clear()
    run = started(instance, **{ROOT_TAG: "r1"})
    with Database(results.url) as command, claimed_run(command, "r1"):
        assert status(instance, run) is WorkerStatus.RUNNING
    assert status(instance, run) is WorkerStatus.NOT_FOUND
    monkeypatch.undo()
    settings.cache_clear()
