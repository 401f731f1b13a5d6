"""A worker process: opens the target once, runs one attempt after the other, and can be killed at any moment.

Started by ``process_workers``; speaks with its parent through a pipe alone. It never outlives its parent: on Linux it
is killed with it, and elsewhere it looks every second.
"""

import contextvars
import ctypes
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, Self

from eval_pipeline.attempt import Task, run_attempt
from eval_pipeline.errors import ConfigError, one_line
from eval_pipeline.outcome import Outcome
from eval_pipeline.printed import nothing_on_stdout
from eval_pipeline.target import RunContext, RunOne

_PR_SET_PDEATHSIG = 1
LOOK_S = 1.0
"""How often a process looks whether its parent is still there."""

Open = Callable[[RunContext], AbstractContextManager[RunOne]]


@dataclass(frozen=True, slots=True)
class Opening:
    """What a worker process needs to begin: the target's ``open`` (by import path), the run, and a limit of outputs.

    ``variables`` are context variables of the parent that could be sent: module, name and pickled value.
    """

    open: Open
    context: RunContext
    max_output_bytes: int
    variables: tuple[tuple[str, str, bytes], ...] = ()

    @classmethod
    def of(cls, open: Open, context: RunContext, max_output_bytes: int) -> Self:
        """With the caller's context variables. Raises ConfigError for an ``open`` that no other process can find."""
        try:
            pickle.dumps(open)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ConfigError(f"a target that runs in processes needs an open() of a module: {error}") from None
        return cls(open, context, max_output_bytes, portable_variables())


def main(descriptor: int, parent: int) -> None:
    """The life of a worker process: its end of the pipe, and the process id of its parent."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent decides what it means
    connection = Connection(descriptor)
    with suppress(EOFError), nothing_on_stdout():  # the parent is done with us
        _serve(connection)
    sys.stdout.flush()
    os._exit(0)  # at once: threads that an attempt left behind are not waited for


def _serve(connection: Connection) -> None:
    try:
        opening: Opening = pickle.loads(connection.recv_bytes())  # noqa: S301 - from our own parent
        _set_variables(opening.variables)
        opened = opening.open(opening.context)
        run_one = opened.__enter__()  # closed below, when the parent hangs up; a failure to open is told, not raised
    except BaseException as error:
        connection.send(one_line(error))
        raise EOFError from error
    connection.send(None)
    try:
        while True:
            task: Task = connection.recv()
            connection.send(_outcome(task, run_one, opening.max_output_bytes))
    finally:
        opened.__exit__(None, None, None)


def _outcome(task: Task, run_one: RunOne, max_output_bytes: int) -> Outcome:
    return contextvars.copy_context().run(run_attempt, task, run_one, max_output_bytes)


def die_with(parent: int) -> None:
    """From now on this process is killed when its parent, of this process id, is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_look_after, args=(parent,), daemon=True).start()


def _look_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(1)


def portable_variables() -> tuple[tuple[str, str, bytes], ...]:
    """The context variables of this context that another process can have: globals of a module, with a value that
    pickles. A variable has no name that it could be found by, so the modules are asked.
    """
    here = contextvars.copy_context()
    wanted = {id(variable): variable for variable in here}
    found = []
    for module, name, variable in _module_globals(wanted):
        try:
            found.append((module, name, pickle.dumps(here[variable])))
        except Exception:  # noqa: S112 - whatever pickling says, such a value stays here; the docs say so
            continue
    return tuple(found)


def _module_globals(wanted: dict[int, "contextvars.ContextVar[Any]"]) -> Iterable[tuple[str, str, Any]]:
    for module_name, module in list(sys.modules.items()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in wanted and isinstance(value, contextvars.ContextVar):
                yield module_name, name, value


def _set_variables(variables: Iterable[tuple[str, str, bytes]]) -> None:
    for module, name, value in variables:
        getattr(import_module(module), name).set(pickle.loads(value))  # noqa: S301 - from our own parent
