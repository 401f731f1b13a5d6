"""Who watches a run in this process: hears its progress, and can interrupt it without losing what is finished."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from eval_pipeline.run import Progress


class Watch:
    """The process's watcher. ``interrupted`` is set by the first Ctrl-C (or SIGTERM) during a run."""

    def __init__(self) -> None:
        self.interrupted = threading.Event()
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
