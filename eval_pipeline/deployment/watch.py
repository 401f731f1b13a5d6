"""Who watches a run in this process: hears its progress, and can interrupt it without losing what is finished."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import dagster as dg

from eval_pipeline.run import Progress

LOOK_S = 5.0
"""How often a step asks whether the run that it belongs to is still wanted."""


class Watch:
    """The process's watcher. ``interrupted`` is set by the first Ctrl-C (or SIGTERM) during a run.

    ``goes_on``: after it the scores and the board are still made, in this process.
    """

    def __init__(self) -> None:
        self.interrupted = threading.Event()
        self.goes_on = False
        self.report: Callable[[Progress], None] = lambda _: None

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """While this lasts, the first SIGINT or SIGTERM asks the run to stop; a second one has its usual effect.

        Signals reach only the main thread; elsewhere this does nothing.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def interrupt(_number: int, _frame: FrameType | None) -> None:
            self.interrupted.set()
            for each, handler in before.items():
                signal.signal(each, handler)

        for number in before:
            signal.signal(number, interrupt)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


WATCH = Watch()


def end_with_the_run() -> None:
    """From now on this process, when it is one that Dagster's multiprocess executor made, ends with its maker.

    A step that lived on would call models for a run that is over. Its parent by the system is the server that forked
    it, and that one waits for its children.
    """
    maker = multiprocessing.parent_process()
    if maker is not None:
        threading.Thread(target=_end_after, args=(maker,), daemon=True).start()


def _end_after(maker: "multiprocessing.process.BaseProcess") -> None:
    maker.join()
    os._exit(1)


def run_ended(context: dg.OpExecutionContext) -> Callable[[], bool]:
    """Gives what answers whether a step is to stop: this process was interrupted, or the run has come to an end.

    A step on another machine hears of that in no other way: what it still paid for would be for nobody.
    """
    asked, ended = -LOOK_S, False

    def should_stop() -> bool:
        nonlocal asked, ended
        if WATCH.goes_on or WATCH.interrupted.is_set() or time.monotonic() < asked + LOOK_S:
            return ended or WATCH.interrupted.is_set()
        asked = time.monotonic()
        run = context.instance.get_run_by_id(context.run_id)
        ended = run is None or run.is_finished or run.status is dg.DagsterRunStatus.CANCELING
        return ended

    return should_stop
