"""Attempts in flight: what the watcher of a run and its workers share."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from eval_pipeline.attempt import Task
from eval_pipeline.outcome import FailureKind, Outcome


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a run: attempts at once, seconds for each, bytes of its outputs as JSON text."""

    concurrency: int
    timeout_s: float
    max_output_bytes: int


@dataclass(eq=False, slots=True)
class Flight:
    """An attempt in flight. ``given_up`` is set by the watcher; what arrives after that is dropped.

    On an event loop ``running`` is its task, and ``cancelled_at`` says when the loop was asked to cancel it.
    """

    task: Task
    began: float
    given_up: bool = False
    running: "asyncio.Task[Outcome] | None" = None
    cancelled_at: float | None = None

    def too_slow(self, now: float, note: str = "") -> Outcome:
        """The outcome of an attempt that is over its time limit."""
        seconds = now - self.began
        message = f"no result within the time limit (given up after {seconds:.2f} s){note}"
        return self.task.failed(FailureKind.TIMEOUT, message, seconds=seconds)


@dataclass
class Flights:
    """What watcher and workers share; every field is touched under ``lock`` only."""

    tasks: Iterator[Task]
    emit: Callable[[Outcome], None]
    lock: threading.Lock = field(default_factory=threading.Lock)
    again: deque[Task] = field(default_factory=deque)
    flying: set[Flight] = field(default_factory=set)
    stopped: bool = False

    def take(self, may_take: Callable[[], bool] = lambda: True) -> Flight | None:
        """The next attempt; None when there is nothing more to start, or for a worker that ``may_take`` refuses."""
        with self.lock:
            if self.stopped or not may_take():
                return None
            task = self.again.popleft() if self.again else next(self.tasks, None)
            if task is None:
                return None
            flight = Flight(task, time.monotonic())
            self.flying.add(flight)
            return flight

    def land(self, flight: Flight, outcome: Outcome) -> bool:
        """Takes an outcome in; False when its flight was given up, and the worker with it."""
        with self.lock:
            if flight.given_up:
                return False
            self.flying.discard(flight)
            self.emit(outcome)
            return True

    def late(self, now: float, timeout_s: float) -> list[Flight]:
        """Those over the time limit. Call it under ``lock``."""
        return [flight for flight in self.flying if now - flight.began > timeout_s]
