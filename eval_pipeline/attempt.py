"""One attempt: an example's inputs through the target's function, and what came of it as an outcome."""

import asyncio
import json
import os
import traceback
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import perf_counter, time_ns
from typing import Any

from eval_pipeline.errors import one_line
from eval_pipeline.guard import SUBSTITUTED, ReasoningSubstituted, current_guard
from eval_pipeline.masking import mask_secrets
from eval_pipeline.outcome import NO_USAGE, Failure, FailureKind, Outcome, Status
from eval_pipeline.target import Attempt, RunOne
from eval_pipeline.trace import AttemptName, Recorder, recording
from eval_pipeline.values import NotJson, canonical_text

MAX_DETAIL = 16 * 1024


@dataclass(frozen=True, slots=True)
class Task:
    """One trial of one example, ready to run. ``position`` is the place of the example in its dataset."""

    run_id: str
    agent: str
    example_id: str
    trial: int
    position: int
    inputs: dict[str, Any]
    inputs_digest: str

    @property
    def name(self) -> AttemptName:
        """Which attempt this is, for its trace."""
        return self.agent, self.example_id, self.trial, self.run_id

    def attempt(self) -> Attempt:
        """A new attempt at this task, with a token of its own."""
        return Attempt(self.run_id, self.agent, self.example_id, self.trial, f"{os.getpid():x}-{time_ns():x}")

    def outcome(
        self,
        status: Status,
        *,
        seconds: float = 0.0,
        outputs: dict[str, Any] | None = None,
        outputs_text: str | None = None,
        failure: Failure | None = None,
        skip_reason: str | None = None,
        recorder: Recorder | None = None,
    ) -> Outcome:
        """This task's outcome, which ends now and began ``seconds`` ago."""
        began = datetime.now(UTC) - timedelta(seconds=seconds)
        return Outcome(
            self.run_id,
            self.agent,
            self.example_id,
            self.trial,
            self.position,
            status,
            self.inputs_digest,
            began,
            seconds,
            outputs,
            failure and _without_secrets(failure),
            skip_reason,
            recorder.usage if recorder else NO_USAGE,
            recorder.model if recorder else None,
            recorder.spans if recorder else (),
            outputs_text=outputs_text,
        )

    def failed(self, kind: FailureKind, message: str, *, seconds: float = 0.0, detail: str | None = None) -> Outcome:
        """This task's outcome in error."""
        return self.outcome(Status.FAILED, seconds=seconds, failure=Failure(kind, message, detail))


def _without_secrets(failure: Failure) -> Failure:
    """An error's text and its traceback may hold the address or the key with which something was asked."""
    return replace(failure, message=mask_secrets(failure.message), detail=mask_secrets(failure.detail))


def run_attempt(task: Task, run_one: RunOne, max_output_bytes: int) -> Outcome:
    """Runs one attempt in this thread. What the target raises becomes the outcome's failure."""
    began = perf_counter()
    with recording(task.name) as recorder:
        try:
            outputs = run_one(task.inputs, task.attempt())
        except BaseException as error:  # a target may raise anything, SystemExit too; it becomes the example's ERROR
            return _raised(task, error, perf_counter() - began, recorder)
    if isinstance(outputs, Awaitable):
        return task.failed(FailureKind.INVALID_OUTPUTS, "the target is a coroutine function: declare runs='loop'")
    return _completed(task, outputs, perf_counter() - began, recorder, max_output_bytes)


async def run_attempt_async(task: Task, run_one: RunOne, max_output_bytes: int) -> Outcome:
    """Runs one attempt on the running loop. A cancellation travels on: the caller knows why it cancelled."""
    began = perf_counter()
    with recording(task.name) as recorder:
        try:
            outputs = run_one(task.inputs, task.attempt())
            if isinstance(outputs, Awaitable):
                outputs = await outputs
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a target may raise anything, SystemExit too; it becomes the example's ERROR
            return _raised(task, error, perf_counter() - began, recorder)
    return _completed(task, outputs, perf_counter() - began, recorder, max_output_bytes)


def _raised(task: Task, error: BaseException, seconds: float, recorder: Recorder) -> Outcome:
    detail = "".join(traceback.format_exception(error))[-MAX_DETAIL:]
    if isinstance(error, ReasoningSubstituted):
        failure = Failure(FailureKind.REFUSED, f"{SUBSTITUTED}: {error}"[:MAX_DETAIL], detail)
    else:
        failure = Failure(FailureKind.RAISED, one_line(error)[:MAX_DETAIL], detail)
    return task.outcome(Status.FAILED, seconds=seconds, failure=failure, recorder=recorder)


def _completed(task: Task, outputs: Any, seconds: float, recorder: Recorder, max_output_bytes: int) -> Outcome:
    if current_guard().requires_graph and not recorder.ran_graph:
        message = f"{SUBSTITUTED}: the target has outputs although it ran no graph (run_graph)"
        failure = Failure(FailureKind.REFUSED, message)
        return task.outcome(Status.FAILED, seconds=seconds, failure=failure, recorder=recorder)
    try:
        text = _as_stored(outputs, max_output_bytes)
    except NotJson as error:
        failure = Failure(FailureKind.INVALID_OUTPUTS, str(error))
        return task.outcome(Status.FAILED, seconds=seconds, failure=failure, recorder=recorder)
    kept = json.loads(text)  # as it will be read back: a copy, which the agent cannot change any more
    return task.outcome(Status.COMPLETED, seconds=seconds, outputs=kept, outputs_text=text, recorder=recorder)


def _as_stored(outputs: Any, max_output_bytes: int) -> str:
    """The outputs as they are stored: their canonical text. Raises NotJson."""
    if not isinstance(outputs, dict):
        raise NotJson("the outputs", f"{type(outputs).__name__}, not an object")
    try:
        text = canonical_text(outputs)
    except NotJson as error:
        raise NotJson("the outputs are not JSON", str(error)) from None
    if len(text) > max_output_bytes:
        limit = f"the limit is {max_output_bytes} (EVAL_MAX_OUTPUT_BYTES)"
        raise NotJson("the outputs", f"{len(text)} bytes of JSON, {limit}")
    return text
