"""One attempt becomes one outcome, whatever the target does."""

import asyncio
import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.attempt import MAX_DETAIL, run_attempt, run_attempt_async
from eval_pipeline.outcome import FailureKind, Outcome, Status, Usage
from eval_pipeline.trace import current
from eval_pipeline.values import same
from tests.build import task
from tests.test_evaluator import Unspeakable
from tests.test_values import json_values

LIMIT = 10_000


def run(function: Any, limit: int = LIMIT) -> Outcome:
    """The outcome of a plain function; the same is asked of the coroutine that does the same."""
    outcome = run_attempt(task(), function, limit)

    async def on_a_loop(inputs: Any, attempt: Any) -> Any:
        return function(inputs, attempt)

    other = asyncio.run(run_attempt_async(task(), on_a_loop, limit))
    assert (other.status, same(other.outputs, outcome.outputs)) == (outcome.status, True)
    return outcome


def returns(value: Any) -> Any:
    return lambda inputs, attempt: value


def raises(error: BaseException) -> Any:
    def raising(inputs: Any, attempt: Any) -> Any:
        raise error

    return raising


def test_what_the_target_returns_is_the_outcome() -> None:
    outcome = run(returns({"answer": "four"}))
    assert (outcome.status, outcome.outputs, outcome.failure) == (Status.COMPLETED, {"answer": "four"}, None)


def test_the_outcome_says_whose_it_is_and_when_it_began() -> None:
    outcome = run_attempt(task("sale-1", trial=2, position=7, inputs_digest="d" * 64), returns({}), LIMIT)
    assert (outcome.run_id, outcome.agent, outcome.example_id) == ("run-1", "sampler", "sale-1")
    assert (outcome.trial, outcome.position, outcome.inputs_digest) == (2, 7, "d" * 64)
    assert outcome.started_at.utcoffset() == timedelta(0)
    assert outcome.seconds >= 0


def test_it_began_before_it_ended() -> None:
    ended = task().outcome(Status.SKIPPED, skip_reason="no model")
    began = task().outcome(Status.SKIPPED, skip_reason="no model", seconds=3600)
    assert ended.started_at - began.started_at > timedelta(minutes=59)


def test_each_attempt_has_a_name_of_its_own() -> None:
    one = task()
    assert one.attempt().name.startswith("sampler-example-1-0-")
    assert one.attempt().name != one.attempt().name


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("boom\nagain"), "ValueError: boom again"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (Unspeakable(), "Unspeakable: (its message cannot be shown)"),
        (ExceptionGroup("several", [ValueError("a")]), "ExceptionGroup: several (1 sub-exception)"),
    ],
)
def test_whatever_the_target_raises_is_a_failure(error: BaseException, told: str) -> None:
    outcome = run(raises(error))
    assert outcome.status is Status.FAILED
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.message) == (FailureKind.RAISED, told)
    assert "test_attempt.py" in (outcome.failure.detail or "")
    assert outcome.outputs is None


def test_a_long_message_is_cut() -> None:
    failure = run(raises(ValueError("x" * 10 * MAX_DETAIL))).failure
    assert failure is not None
    assert len(failure.message) == len(failure.detail or "") == MAX_DETAIL


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "the outputs: NoneType, not an object"),
        ([1], "the outputs: list, not an object"),
        ({"a": [math.nan]}, "the outputs are not JSON: $.a[0]: nan is not a JSON number"),
        ({"a": object()}, "the outputs are not JSON: $.a: object is not a JSON value"),
        ({1: "a"}, "the outputs are not JSON: $: key 1 is not a string"),
        ({"a": "x" * LIMIT}, "the outputs: 10008 bytes of JSON, the limit is 10000 (EVAL_MAX_OUTPUT_BYTES)"),
    ],
)
def test_outputs_that_cannot_be_kept_are_a_failure(value: Any, told: str) -> None:
    outcome = run(returns(value))
    assert outcome.status is Status.FAILED
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.message) == (FailureKind.INVALID_OUTPUTS, told)


def test_outputs_that_hold_themselves_are_a_failure() -> None:
    value: dict[str, Any] = {}
    value["self"] = value
    failure = run(returns(value)).failure
    assert failure is not None
    assert "nested more than 100 deep" in failure.message


@given(st.dictionaries(st.text(max_size=4), json_values, max_size=4))
def test_all_json_objects_are_kept_as_they_are(outputs: dict[str, Any]) -> None:
    kept = run_attempt(task(), returns(outputs), 10**6).outputs
    assert same(kept, outputs)


def test_tuples_are_kept_as_the_lists_that_they_will_be_read_back_as() -> None:
    assert same(run(returns({"a": (1, (2,))})).outputs, {"a": [1, [2]]})


def test_what_a_target_changes_afterwards_does_not_reach_the_outcome() -> None:
    shared: dict[str, Any] = {"lines": []}

    def appends(inputs: Any, attempt: Any) -> dict[str, Any]:
        shared["lines"].append("x")
        return shared

    first = run_attempt(task(), appends, LIMIT)
    run_attempt(task(), appends, LIMIT)
    assert first.outputs == {"lines": ["x"]}


def test_a_coroutine_function_in_a_thread_is_told() -> None:
    async def waits(inputs: Any, attempt: Any) -> dict[str, Any]:
        return {}

    made = []

    def keeps(inputs: Any, attempt: Any) -> Any:
        made.append(waits(inputs, attempt))
        return made[-1]

    outcome = run_attempt(task(), keeps, LIMIT)
    made[0].close()
    assert outcome.failure is not None
    assert "declare runs='loop'" in outcome.failure.message


def test_a_cancellation_travels_on() -> None:
    async def cancelled(inputs: Any, attempt: Any) -> Any:
        raise asyncio.CancelledError

    async def attempt() -> None:
        with pytest.raises(asyncio.CancelledError):
            await run_attempt_async(task(), cancelled, LIMIT)

    asyncio.run(attempt())


def test_usage_is_kept_of_what_failed_too() -> None:
    def spends(inputs: Any, attempt: Any) -> Any:
        current().usage += Usage(1, 10, 20)
        raise ValueError("after the call")

    assert run_attempt(task(), spends, LIMIT).usage == Usage(1, 10, 20)


def test_an_error_is_kept_without_the_secret_in_its_text_and_traceback() -> None:
    outcome = run(raises(ConnectionError("postgresql://eval:hunter2@books/ledger is away")))
    assert outcome.failure is not None
    assert outcome.failure.message == "ConnectionError: postgresql://«masked»@books/ledger is away"
    assert outcome.failure.detail is not None
    assert "hunter2" not in outcome.failure.detail
