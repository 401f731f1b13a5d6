"""Where attempts run: threads for blocking targets, an event loop in a thread of its own for coroutines.

Time limits hold from the outside. The thread that calls ``run_tasks`` watches every attempt; one that is over its limit
is given up: its example gets an ERROR, and whatever it still brings is dropped. Its siblings go on.
"""

import queue
import time
from collections.abc import Callable, Iterable

from eval_pipeline.attempt import Task
from eval_pipeline.flights import Flights, Limits
from eval_pipeline.loop_workers import LoopWorkers
from eval_pipeline.outcome import Outcome
from eval_pipeline.target import RunOne
from eval_pipeline.thread_workers import ThreadWorkers

__all__ = ["Limits", "run_tasks"]

WATCH_S = 0.05
"""How often time limits are looked at; a limit is kept to within this."""


def run_tasks(
    tasks: Iterable[Task],
    run_one: RunOne,
    limits: Limits,
    emit: Callable[[Outcome], None],
    *,
    on_loop: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Runs all tasks and calls ``emit`` with each outcome as it is finished (never twice at the same time).

    Returns when every task has its outcome, or soon after ``should_stop`` says so: then what was in flight is left
    without an outcome. What ``emit`` raises ends the run and is raised here. Works under a running event loop too.
    """
    failures: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
    flights = Flights(iter(tasks), emit)
    kind = LoopWorkers if on_loop else ThreadWorkers
    workers = kind(flights, run_one, limits, failures)
    workers.start()
    try:
        while not workers.wait(WATCH_S):
            if not failures.empty():
                raise failures.get()
            if should_stop():
                break
            workers.enforce(time.monotonic())
        if not failures.empty():
            raise failures.get()
    finally:
        with flights.lock:
            flights.stopped = True
            for flight in flights.flying:
                flight.given_up = True
