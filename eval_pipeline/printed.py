"""What agents and evaluators print: stdout belongs to the command's own answer, so nothing of it gets there.

While a run lasts, ``sys.stdout`` is a stream that keeps what an attempt prints in its trace, up to ``MAX_TEXT``
characters; the rest is counted and dropped. What is printed outside of an attempt (an evaluator, a thread that lost its
context) goes to stderr, up to ``MAX_OTHER`` characters a run. Output below Python (a C library, a child process) is not
seen here: a command sends its file descriptor to stderr, see ``stdout_to_stderr``.
"""

import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from eval_pipeline.trace import attempt_in_progress

MAX_OTHER = 64 * 1024
CUT = "\n(further output is not shown)\n"


class _Printed(io.TextIOBase):
    """The stream in the place of stdout. Writing never fails: an agent's print is not worth its attempt."""

    def __init__(self, other: TextIO) -> None:
        self._other = other
        self._left = MAX_OTHER
        self._lock = threading.Lock()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def buffer(self) -> io.BufferedIOBase:
        """For those who print bytes."""
        return _PrintedBytes(self)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """For those who hand it to a child process: the child writes to stderr."""
        return self._other.fileno()

    def write(self, text: str) -> int:
        recorder = attempt_in_progress()
        if recorder is not None:
            recorder.print(text)
        else:
            self._pass_on(text)
        return len(text)

    def _pass_on(self, text: str) -> None:
        with self._lock:
            if self._left <= 0:
                return
            shown = text[: self._left]
            self._left -= len(text)
            self._other.write(shown.encode("utf-8", "backslashreplace").decode("utf-8"))
            if self._left <= 0:
                self._other.write(CUT)

    def flush(self) -> None:
        self._other.flush()


class _PrintedBytes(io.BufferedIOBase):
    def __init__(self, stream: _Printed) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


@contextmanager
def nothing_on_stdout() -> Iterator[None]:
    """While this lasts, what Python code prints goes to the trace of its attempt, or to stderr. One within another is
    the outer one."""
    if isinstance(sys.stdout, _Printed):
        yield
        return
    with redirect_stdout(_Printed(sys.stderr)):
        yield


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """As ``nothing_on_stdout``, for a whole command: file descriptor 1 is stderr, for whoever writes past Python."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with nothing_on_stdout():
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
