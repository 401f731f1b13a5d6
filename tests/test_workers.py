"""Attempts run side by side within their limits, and none of them can take another one down.

Nothing here measures time: what is asked is that all outcomes are there in the end, and which they are.
"""

import asyncio
import contextvars
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from eval_pipeline.attempt import Task
from eval_pipeline.errors import ResultsUnavailable
from eval_pipeline.outcome import FailureKind, Outcome, Status
from eval_pipeline.target import Attempt
from eval_pipeline.workers import Limits, run_tasks
from tests.build import task

AMPLE = 60.0
SHORT = 0.3
FOR_EVER = 3600.0

Function = Callable[[dict[str, Any], Attempt], Any]


def tasks(n: int) -> list[Task]:
    return [task(f"example-{index}", position=index, inputs={"n": index}) for index in range(n)]


def run(
    function: Function,
    n: int = 4,
    *,
    on_loop: bool = False,
    concurrency: int = 4,
    timeout_s: float = AMPLE,
    **more: Any,
) -> dict[str, Outcome]:
    """The outcomes by example. On a loop a plain function is called within a coroutine."""
    found: list[Outcome] = []
    limits = Limits(concurrency, timeout_s, 10_000)
    run_tasks(tasks(n), _coroutine(function) if on_loop else function, limits, found.append, on_loop=on_loop, **more)
    assert max(Counter(outcome.example_id for outcome in found).values(), default=0) <= 1
    return {outcome.example_id: outcome for outcome in found}


def _coroutine(function: Function) -> Function:
    async def awaits(inputs: dict[str, Any], attempt: Attempt) -> Any:
        result = function(inputs, attempt)
        return await result if isinstance(result, Awaitable) else result

    return awaits


def echoes(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    return {"n": inputs["n"]}


either_crew = pytest.mark.parametrize("on_loop", [False, True], ids=["threads", "loop"])


def failure_kinds(outcomes: dict[str, Outcome]) -> dict[str, FailureKind | None]:
    return {key: outcome.failure.kind if outcome.failure else None for key, outcome in sorted(outcomes.items())}


# What is asked of both


@either_crew
@pytest.mark.parametrize("n", [0, 1, 20])
def test_every_task_has_its_own_outcome(on_loop: bool, n: int) -> None:
    outcomes = run(echoes, n, on_loop=on_loop)
    assert {key: outcome.outputs for key, outcome in outcomes.items()} == {f"example-{i}": {"n": i} for i in range(n)}


@either_crew
def test_one_at_a_time_runs_them_in_their_order(on_loop: bool) -> None:
    order: list[int] = []
    run(lambda inputs, attempt: order.append(inputs["n"]) or {}, 6, on_loop=on_loop, concurrency=1)
    assert order == [0, 1, 2, 3, 4, 5]


@either_crew
def test_never_more_at_once_than_allowed(on_loop: bool) -> None:
    running, most = [0], [0]

    async def counts(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        running[0] += 1
        most[0] = max(most[0], running[0])
        await asyncio.sleep(0.01)
        running[0] -= 1
        return {}

    lock = threading.Lock()

    def blocks(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.01)
        with lock:
            running[0] -= 1
        return {}

    run(counts if on_loop else blocks, 20, on_loop=on_loop, concurrency=3)
    assert most[0] == 3


@either_crew
@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError()])
def test_one_that_raises_does_not_touch_the_others(on_loop: bool, error: BaseException) -> None:
    """H22: case 1 raises, case 2 is unaffected."""

    def first_raises(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        if inputs["n"] == 0:
            raise error
        return echoes(inputs, attempt)

    for concurrency in (1, 4):
        kinds = failure_kinds(run(first_raises, on_loop=on_loop, concurrency=concurrency))
        assert kinds == {"example-0": FailureKind.RAISED, "example-1": None, "example-2": None, "example-3": None}


setting = contextvars.ContextVar("setting", default="unset")


@either_crew
def test_the_context_of_the_caller_reaches_the_target(on_loop: bool) -> None:
    """H32: context is carried into the workers."""
    setting.set("from the caller")
    outcomes = run(lambda inputs, attempt: {"setting": setting.get()}, on_loop=on_loop)
    assert all(outcome.outputs == {"setting": "from the caller"} for outcome in outcomes.values())


@either_crew
def test_what_one_attempt_sets_in_its_context_the_next_one_does_not_see(on_loop: bool) -> None:
    setting.set("from the caller")

    def spoils(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        seen = setting.get()
        setting.set("spoilt")
        return {"setting": seen}

    outcomes = run(spoils, on_loop=on_loop, concurrency=1)
    assert all(outcome.outputs == {"setting": "from the caller"} for outcome in outcomes.values())


@either_crew
def test_it_works_under_a_running_event_loop(on_loop: bool) -> None:
    """H20: called under a running loop it works."""

    async def caller() -> dict[str, Outcome]:
        return run(echoes, on_loop=on_loop)

    assert len(asyncio.run(caller())) == 4


@either_crew
def test_a_target_may_run_a_loop_of_its_own_in_a_thread(on_loop: bool) -> None:
    async def answers() -> dict[str, Any]:
        return {"a": 1}

    if not on_loop:
        outcomes = run(lambda inputs, attempt: asyncio.run(answers()))
        assert all(outcome.outputs == {"a": 1} for outcome in outcomes.values())


@either_crew
def test_when_told_to_stop_no_new_attempt_begins_and_what_is_in_flight_is_left(on_loop: bool) -> None:
    begun: list[int] = []

    async def waits(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        begun.append(inputs["n"])
        await asyncio.sleep(FOR_EVER if inputs["n"] else 0)
        return {}

    release = threading.Event()

    def blocks(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        begun.append(inputs["n"])
        if inputs["n"]:
            release.wait()
        return {}

    outcomes = run(
        waits if on_loop else blocks, 50, on_loop=on_loop, concurrency=2, should_stop=lambda: len(begun) >= 3
    )
    release.set()
    assert list(outcomes) == ["example-0"]
    assert sorted(begun) == [0, 1, 2]


@either_crew
def test_what_the_keeper_of_outcomes_raises_ends_the_run(on_loop: bool) -> None:
    asked: list[str] = []

    def refuses(outcome: Outcome) -> None:
        asked.append(outcome.example_id)
        if len(asked) == 1:
            raise ResultsUnavailable("the database is gone")

    limits = Limits(1, AMPLE, 1000)
    with pytest.raises(ResultsUnavailable, match="the database is gone"):
        run_tasks(tasks(5), _coroutine(echoes) if on_loop else echoes, limits, refuses, on_loop=on_loop)
    assert asked == ["example-0"]


def test_attempts_that_are_cut_off_by_a_failure_to_store_leave_no_outcome_of_their_own() -> None:
    asked: list[str] = []

    def refuses_the_first(outcome: Outcome) -> None:
        asked.append(outcome.example_id)
        if len(asked) == 1:
            raise ResultsUnavailable("the database is gone")

    async def waits(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        await asyncio.sleep(FOR_EVER if inputs["n"] else 0)
        return {}

    with pytest.raises(ResultsUnavailable):
        run_tasks(tasks(4), waits, Limits(4, AMPLE, 1000), refuses_the_first, on_loop=True)
    assert asked == ["example-0"]


@either_crew
def test_tasks_are_taken_as_they_are_needed_and_outcomes_given_as_they_come(on_loop: bool) -> None:
    """Memory stays flat: a run does not hold all that is still to do."""
    taken: list[int] = []
    found: list[Outcome] = []
    ahead: list[int] = []

    def lazily() -> Iterator[Task]:
        for index in range(100):
            taken.append(index)
            yield task(f"example-{index}", inputs={"n": index})

    def keep(outcome: Outcome) -> None:
        found.append(outcome)
        ahead.append(len(taken) - len(found))

    limits = Limits(3, AMPLE, 1000)
    run_tasks(lazily(), _coroutine(echoes) if on_loop else echoes, limits, keep, on_loop=on_loop)
    assert len(found) == 100
    assert max(ahead) <= 3


@either_crew
def test_an_outcome_is_never_given_while_another_one_is_being_given(on_loop: bool) -> None:
    inside = [0]

    def keep(outcome: Outcome) -> None:
        inside[0] += 1
        time.sleep(0.001)
        assert inside[0] == 1
        inside[0] -= 1

    run_tasks(tasks(20), _coroutine(echoes) if on_loop else echoes, Limits(8, AMPLE, 1000), keep, on_loop=on_loop)


# Time limits


def test_a_target_that_sleeps_does_not_stop_its_siblings() -> None:
    """H18: time.sleep in one target, the others finish in time."""
    done = threading.Event()

    def sleeps(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        if inputs["n"] == 0:
            done.wait()
        elif inputs["n"] == 9:
            done.set()
        return echoes(inputs, attempt)

    outcomes = run(sleeps, 10, concurrency=2)
    assert [outcome.status for outcome in outcomes.values()] == [Status.COMPLETED] * 10


def test_threads_that_never_end_are_given_up_and_named_and_the_rest_still_runs() -> None:
    """H17, H19: bounded, and the example is named. As many hang as there are workers, twice over."""

    def hangs(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        if inputs["n"] < 4:
            time.sleep(FOR_EVER)
        return echoes(inputs, attempt)

    outcomes = run(hangs, 8, concurrency=2, timeout_s=SHORT)
    late = [f"example-{n}" for n in range(4)]
    assert failure_kinds(outcomes) == {
        f"example-{n}": FailureKind.TIMEOUT if f"example-{n}" in late else None for n in range(8)
    }
    failure = outcomes["example-0"].failure
    assert failure is not None
    assert failure.message.startswith("no result within the time limit (given up after ")


def test_what_a_thread_brings_after_it_was_given_up_is_dropped() -> None:
    release, late_ones_done = threading.Event(), threading.Event()

    def comes_late(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        if inputs["n"] == 0:
            release.wait()
            late_ones_done.set()
        if inputs["n"] == 1:
            time.sleep(SHORT * 3)
            release.set()
            late_ones_done.wait()
        return echoes(inputs, attempt)

    outcomes = run(comes_late, 3, concurrency=1, timeout_s=SHORT)
    assert failure_kinds(outcomes) == {
        "example-0": FailureKind.TIMEOUT,
        "example-1": FailureKind.TIMEOUT,
        "example-2": None,
    }


def test_a_coroutine_that_never_ends_is_cancelled_and_its_siblings_finish() -> None:
    cancelled: list[int] = []

    async def hangs(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        if inputs["n"] == 0:
            try:
                await asyncio.sleep(FOR_EVER)
            except asyncio.CancelledError:
                cancelled.append(0)
                raise
        return echoes(inputs, attempt)

    kinds = failure_kinds(run(hangs, on_loop=True, timeout_s=SHORT))
    assert kinds == {"example-0": FailureKind.TIMEOUT, "example-1": None, "example-2": None, "example-3": None}
    assert cancelled == [0]


@pytest.mark.parametrize("seconds", [SHORT * 5, FOR_EVER], ids=["for a while", "for ever"])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_coroutine_that_blocks_the_loop_does_not_time_out_its_siblings(concurrency: int, seconds: float) -> None:
    """H18 on a loop: time.sleep in a coroutine. Those that began with it run again."""

    async def blocks(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        if inputs["n"] == 1:
            time.sleep(seconds)
        return echoes(inputs, attempt)

    kinds = failure_kinds(run(blocks, 6, on_loop=True, concurrency=concurrency, timeout_s=SHORT))
    assert kinds == {f"example-{n}": FailureKind.TIMEOUT if n == 1 else None for n in range(6)}


def test_a_child_task_that_blocks_the_loop_is_held_against_its_own_example() -> None:
    async def child() -> None:
        time.sleep(FOR_EVER)

    async def blocks(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        if inputs["n"] == 1:
            await asyncio.gather(child())
        return echoes(inputs, attempt)

    kinds = failure_kinds(run(blocks, 4, on_loop=True, timeout_s=SHORT))
    assert kinds == {f"example-{n}": FailureKind.TIMEOUT if n == 1 else None for n in range(4)}


def test_a_coroutine_that_will_not_be_cancelled_is_given_up() -> None:
    async def clings(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        while inputs["n"] == 0:
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue
        return echoes(inputs, attempt)

    kinds = failure_kinds(run(clings, 4, on_loop=True, timeout_s=SHORT))
    assert kinds == {"example-0": FailureKind.TIMEOUT, "example-1": None, "example-2": None, "example-3": None}


def test_a_result_after_the_time_limit_is_no_result() -> None:
    async def answers_when_cancelled(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        try:
            await asyncio.sleep(FOR_EVER)
        except asyncio.CancelledError:
            return {"late": True}
        return {}

    assert failure_kinds(run(answers_when_cancelled, 1, on_loop=True, timeout_s=SHORT)) == {
        "example-0": FailureKind.TIMEOUT
    }


def test_a_thread_that_a_coroutine_left_behind_does_not_hold_up_the_end() -> None:
    release = threading.Event()

    async def leaves_a_thread(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        await asyncio.to_thread(release.wait)
        return {}

    try:
        assert failure_kinds(run(leaves_a_thread, 1, on_loop=True, timeout_s=SHORT)) == {
            "example-0": FailureKind.TIMEOUT
        }
    finally:
        release.set()
