"""Where attempts run: threads for blocking targets, an event loop in a thread of its own for coroutines, processes for
code that a thread cannot stop.

Time limits hold from the outside. The thread that calls ``run_tasks`` watches every attempt; one that is over its limit
is given up: its example gets an ERROR, and whatever it still brings is dropped. Its siblings go on.
"""

import queue
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from eval_pipeline.attempt import Task
from eval_pipeline.flights import Flights, Limits
from eval_pipeline.loop_workers import LoopWorkers
from eval_pipeline.outcome import Outcome
from eval_pipeline.process_child import Opening
from eval_pipeline.process_workers import ProcessWorkers
from eval_pipeline.target import RunOne
from eval_pipeline.thread_workers import ThreadWorkers

__all__ = ["Limits", "Opening", "run_tasks"]

WATCH_S = 0.05
"""How often time limits are looked at; a limit is kept to within this."""


class Workers(Protocol):
    """What runs attempts: each kind takes them from the flights of its run and lands their outcomes there."""

    def start(self) -> None:
        """Begins."""

    def wait(self, seconds: float) -> bool:
        """Waits for all to finish, at most so long; whether they have."""

    def enforce(self, now: float) -> None:
        """Gives up what is over the time limit."""

    def stop(self) -> None:
        """Ends what can be ended of the attempts in flight; the run is over for them."""


def run_tasks(
    tasks: Iterable[Task],
    run_one: RunOne | Opening,
    limits: Limits,
    emit: Callable[[Outcome], None],
    *,
    on_loop: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Runs all tasks and calls ``emit`` with each outcome as it is finished (never twice at the same time).

    An Opening in the place of the function has them run in processes, each of which opens the target for itself.
    Returns when every task has its outcome, or soon after ``should_stop`` says so: then what was in flight is left
    without an outcome. What ``emit`` raises ends the run and is raised here. Works under a running event loop too.
    """
    failures: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
    flights = Flights(iter(tasks), emit)
    workers = _workers(flights, run_one, limits, failures, on_loop=on_loop)
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
        workers.stop()


def _workers(
    flights: Flights,
    run_one: RunOne | Opening,
    limits: Limits,
    failures: "queue.SimpleQueue[BaseException]",
    *,
    on_loop: bool,
) -> Workers:
    if isinstance(run_one, Opening):
        return ProcessWorkers(flights, run_one, limits, failures)
    if on_loop:
        return LoopWorkers(flights, run_one, limits, failures)
    return ThreadWorkers(flights, run_one, limits, failures)
