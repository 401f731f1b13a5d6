"""The benchmark's targets: one coroutine function and one plain function over the same agent."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from bench.echo import EchoOutputs, answer
from eval_pipeline.target import Attempt, Outputs, RunContext, RunOne, Target

NAME = "echo"


def _needs_nothing(_: Mapping[str, Any]) -> tuple[()]:
    return ()


def _opening(run_one: RunOne) -> Callable[[RunContext], AbstractContextManager[RunOne]]:
    @contextmanager
    def opened(_: RunContext) -> Iterator[RunOne]:
        yield run_one

    return opened


async def _answer_on_loop(inputs: dict[str, Any], _: Attempt) -> Outputs:
    return answer(inputs)


def _answer(inputs: dict[str, Any], _: Attempt) -> Outputs:
    return answer(inputs)


async def _answer_later(inputs: dict[str, Any], _: Attempt) -> Outputs:
    await asyncio.sleep(float(inputs["milliseconds"]) / 1000)
    return answer(inputs)


LOOP = Target(NAME, EchoOutputs, _opening(_answer_on_loop), _needs_nothing, runs="loop")
THREAD = Target(NAME, EchoOutputs, _opening(_answer), _needs_nothing)
LATE = Target(NAME, EchoOutputs, _opening(_answer_later), _needs_nothing, runs="loop")
