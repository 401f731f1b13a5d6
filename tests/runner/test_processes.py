"""Targets that run in processes: what no thread could stop is killed, and nothing of it outlives the run."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from eval_pipeline.attempt import Task
from eval_pipeline.errors import ConfigError, ResultsUnavailable
from eval_pipeline.outcome import FailureKind, Outcome
from eval_pipeline.process_child import Open, Opening
from eval_pipeline.target import RunContext, RunOne
from eval_pipeline.workers import Limits, run_tasks
from tests.build import RUN, task
from tests.runner import targets

AMPLE = 60.0


def tasks(*do: str) -> list[Task]:
    return [task(f"example-{n}", position=n, inputs={"n": n, "do": way}) for n, way in enumerate(do)]


def run(
    *do: str, open: Open = targets.opened, timeout_s: float = AMPLE, concurrency: int = 2, closed: Path | None = None
) -> dict[str, Outcome]:
    """The outcomes by example."""
    found: dict[str, Outcome] = {}

    def keep(outcome: Outcome) -> None:
        assert outcome.example_id not in found
        found[outcome.example_id] = outcome

    opening = Opening.of(open, RunContext(RUN, str(closed) if closed else None, None), 10_000)
    run_tasks(tasks(*do), opening, Limits(concurrency, timeout_s, 10_000), keep)
    return found


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if "process_child" in " ".join(_line(child))]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_each_task_has_its_outcome_from_another_process() -> None:
    found = run("echo", "echo", "echo")
    assert [found[f"example-{n}"].outputs["n"] for n in range(3)] == [0, 1, 2]  # type: ignore[index]
    assert os.getpid() not in {outcome.outputs["pid"] for outcome in found.values()}  # type: ignore[index]
    assert children() == []


def test_a_loop_that_computes_for_ever_is_killed_and_its_siblings_pass() -> None:
    """H17, H19: bounded, and the example is named."""
    found = run("spin", "echo", "sleep", "echo", timeout_s=1.0)
    for name in ("example-0", "example-2"):
        failure = found[name].failure
        assert failure is not None
        assert failure.kind is FailureKind.TIMEOUT
        assert "its process was killed" in failure.message
    assert found["example-1"].outputs is not None
    assert found["example-3"].outputs is not None
    assert children() == []


@pytest.mark.parametrize(("way", "told"), [("die", "by signal 9"), ("leave", "with exit code 7")])
def test_a_process_that_ends_by_itself_is_the_error_of_its_example_alone(way: str, told: str) -> None:
    found = run("echo", way, "echo", concurrency=1)
    failure = found["example-1"].failure
    assert failure is not None
    assert (failure.kind, failure.message) == (FailureKind.RAISED, f"the worker process ended {told}")
    assert found["example-0"].outputs is not None
    assert found["example-2"].outputs is not None


def test_what_the_target_raises_is_told_with_its_traceback() -> None:
    failure = run("raise")["example-0"].failure
    assert failure is not None
    assert failure.message == "ValueError: boom"
    assert "in _raise" in (failure.detail or "")


@pytest.mark.parametrize(
    ("open", "told"),
    [(targets.cannot_open, "RuntimeError: no ledger here"), (targets.dies_while_it_opens, "with exit code 3")],
)
def test_a_target_that_cannot_be_opened_is_the_error_of_every_example(open: Open, told: str) -> None:
    found = run("echo", "echo", "echo", open=open)
    assert len(found) == 3
    for outcome in found.values():
        assert outcome.failure is not None
        assert outcome.failure.message.startswith("the target could not be opened: ")
        assert told in outcome.failure.message


def test_an_open_that_no_other_process_can_find_is_told() -> None:
    @contextmanager
    def local(context: RunContext) -> Iterator[RunOne]:
        yield lambda inputs, attempt: {}

    with pytest.raises(ConfigError, match=r"needs an open\(\) of a module"):
        Opening.of(local, RunContext(RUN, None, None), 1)


def test_context_variables_of_modules_reach_the_target_anew_for_each_attempt() -> None:
    """H32: context is carried."""
    token = targets.SETTING.set("from the caller")
    try:
        found = run("setting", "setting", concurrency=1)
    finally:
        targets.SETTING.reset(token)
    assert [outcome.outputs for outcome in found.values()] == [{"setting": "from the caller"}] * 2


def test_the_target_is_closed_in_order_when_the_run_is_over(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    run("echo", closed=closed)
    assert closed.exists()


def test_what_an_agent_prints_does_not_reach_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    run("print")
    assert "printed by the agent" not in capfd.readouterr().out


def test_when_told_to_stop_the_processes_end() -> None:
    begun = time.monotonic()
    opening = Opening.of(targets.opened, RunContext(RUN, None, None), 10_000)
    found: list[Outcome] = []
    run_tasks(
        tasks("echo", "spin", "spin"),
        opening,
        Limits(2, AMPLE, 10_000),
        found.append,
        should_stop=lambda: bool(found) or time.monotonic() - begun > AMPLE,
    )
    assert [outcome.example_id for outcome in found] == ["example-0"]
    assert_gone(children())


def test_a_failure_to_store_ends_the_run_and_the_processes() -> None:
    def refuses(outcome: Outcome) -> None:
        raise ResultsUnavailable("the database is gone")

    opening = Opening.of(targets.opened, RunContext(RUN, None, None), 10_000)
    with pytest.raises(ResultsUnavailable):
        run_tasks(tasks("echo", "spin"), opening, Limits(2, AMPLE, 10_000), refuses)
    assert_gone(children())


def _runs_and_spins(pids: Any) -> None:
    opening = Opening.of(targets.opened, RunContext(RUN, None, None), 10_000)
    limits = Limits(2, AMPLE, 10_000)
    run_tasks(tasks("echo", "spin", "spin"), opening, limits, lambda outcome: pids.send([c.pid for c in children()]))


def test_the_processes_die_with_their_parent() -> None:
    """H15: SIGKILL leaves no process behind that still works on an example."""
    ours, theirs = multiprocessing.Pipe()
    parent = multiprocessing.get_context("spawn").Process(target=_runs_and_spins, args=(theirs,))
    parent.start()
    assert ours.poll(60)
    workers = [psutil.Process(pid) for pid in ours.recv() if psutil.pid_exists(pid)]
    assert workers
    assert parent.pid is not None
    os.kill(parent.pid, signal.SIGKILL)
    parent.join()
    assert_gone(workers)


def assert_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert alive == []
