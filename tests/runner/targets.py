"""Targets that other processes can open: their ``open`` stands in a module."""

import contextvars
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval_pipeline.target import Attempt, RunContext, RunOne

SETTING: contextvars.ContextVar[str] = contextvars.ContextVar("SETTING", default="unset")


def _echo(inputs: dict[str, Any]) -> dict[str, Any]:
    return {"n": inputs.get("n"), "pid": os.getpid()}


def _spin(inputs: dict[str, Any]) -> dict[str, Any]:
    """Computes for ever without giving the interpreter away for long; no thread can be made to stop it."""
    while True:
        sum(range(10_000_000))


def _sleep(inputs: dict[str, Any]) -> dict[str, Any]:
    time.sleep(3600)
    return {}


def _die(inputs: dict[str, Any]) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def _leave(inputs: dict[str, Any]) -> dict[str, Any]:
    os._exit(7)


def _raise(inputs: dict[str, Any]) -> dict[str, Any]:
    raise ValueError("boom")


def _print(inputs: dict[str, Any]) -> dict[str, Any]:
    print("printed by the agent")
    sys.stdout.flush()
    return {}


def _setting(inputs: dict[str, Any]) -> dict[str, Any]:
    seen = SETTING.get()
    SETTING.set("spoilt")
    return {"setting": seen}


WAYS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "echo": _echo,
    "spin": _spin,
    "sleep": _sleep,
    "die": _die,
    "leave": _leave,
    "raise": _raise,
    "print": _print,
    "setting": _setting,
}


@contextmanager
def opened(context: RunContext) -> Iterator[RunOne]:
    """Does what its inputs say under ``do``. Leaves a file beside the ledger's address when it is closed in order."""

    def run_one(inputs: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        return WAYS[inputs.get("do", "echo")](inputs)

    yield run_one
    if context.ledger_url:
        Path(context.ledger_url).touch()


@contextmanager
def cannot_open(context: RunContext) -> Iterator[RunOne]:
    """Fails to open."""
    raise RuntimeError("no ledger here")
    yield


@contextmanager
def dies_while_it_opens(context: RunContext) -> Iterator[RunOne]:
    """Takes its process with it."""
    os._exit(3)
    yield
