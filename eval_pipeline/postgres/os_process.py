"""Processes of other programs: those that die with us, and those that we have to end."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import psutil

from eval_pipeline.postgres.locks import wait_until

_PR_SET_PDEATHSIG = 1


def death_with_parent(signum: signal.Signals) -> Callable[[], None] | None:
    """Returns what a child calls to get the signal when its parent is gone; None where there is no such thing.

    To be called after the user was changed, which would clear the setting.
    """
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signum)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return ask


def running_in(data: Path) -> list[psutil.Process]:
    """Returns the processes of any server on these data: each has the data folder as its working directory."""
    inside = os.fspath(data.resolve())
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it ended meanwhile, or it belongs to somebody else and so is none of ours
            if process.name().startswith("postgres") and process.cwd() == inside:
                found.append(process)
    return found


def end(processes: Iterable[psutil.Process], signals: Iterable[signal.Signals], timeout_s: float) -> None:
    """Sends the processes one signal after another until all are gone, with the time shared out evenly."""
    left, steps = list(processes), list(signals)
    for step in steps:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(step)
        wait_until(lambda: not any(map(_is_running, left)), timeout_s / len(steps))  # noqa: B023
        left = [process for process in left if _is_running(process)]


def _is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
