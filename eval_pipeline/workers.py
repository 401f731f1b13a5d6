"""Where attempts run: threads for blocking targets, an event loop in a thread of its own for coroutines.

Time limits hold from the outside. The thread that calls ``run_tasks`` watches every attempt; one that is over its limit
is given up: its example gets an ERROR, a fresh worker takes the place, and whatever the old one still brings is
dropped. A thread cannot be killed, so one that never ends lives on as a daemon until the process ends; its siblings go
on. An event loop that no longer turns (blocking code in a coroutine) is given up as a whole, and the attempts that
were merely in flight on it run again on a new one.
"""

import asyncio
import contextvars
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from eval_pipeline.attempt import Task, run_attempt, run_attempt_async
from eval_pipeline.outcome import FailureKind, Outcome
from eval_pipeline.target import RunOne

WATCH_S = 0.05
"""How often time limits are looked at; a limit is kept to within this."""
LOOP_GRACE_S = 1.0
"""How long a loop has to let go of an attempt that was cancelled before it is held for blocked."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a run: attempts at once, seconds for each, bytes of its outputs as JSON text."""

    concurrency: int
    timeout_s: float
    max_output_bytes: int


@dataclass(eq=False)
class _Flight:
    """An attempt in flight. ``given_up`` is set by the watcher; what arrives after that is dropped."""

    task: Task
    began: float
    given_up: bool = False
    cancel: Callable[[], object] | None = None
    cancelled_at: float | None = None


@dataclass
class _Shared:
    """What watcher and workers share; every field is touched under ``lock`` only."""

    tasks: Iterator[Task]
    emit: Callable[[Outcome], None]
    lock: threading.Lock = field(default_factory=threading.Lock)
    again: deque[Task] = field(default_factory=deque)
    flights: set[_Flight] = field(default_factory=set)
    stopped: bool = False

    def take(self) -> _Flight | None:
        """The next attempt, or None when there is nothing more to start."""
        with self.lock:
            if self.stopped:
                return None
            task = self.again.popleft() if self.again else next(self.tasks, None)
            if task is None:
                return None
            flight = _Flight(task, time.monotonic())
            self.flights.add(flight)
            return flight

    def land(self, flight: _Flight, outcome: Outcome) -> bool:
        """Takes an outcome in; False when its flight was given up, and the worker with it."""
        with self.lock:
            if flight.given_up:
                return False
            self.flights.discard(flight)
            self.emit(outcome)
            return True


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
    shared = _Shared(iter(tasks), emit)
    crew = _Loop(shared, run_one, limits, failures) if on_loop else _Threads(shared, run_one, limits, failures)
    crew.start()
    try:
        while not crew.wait(WATCH_S):
            if not failures.empty():
                raise failures.get()
            if should_stop():
                break
            crew.enforce(time.monotonic())
        if not failures.empty():
            raise failures.get()
    finally:
        with shared.lock:
            shared.stopped = True
            for flight in shared.flights:
                flight.given_up = True


def _too_slow(flight: _Flight, now: float, note: str = "") -> Outcome:
    seconds = now - flight.began
    message = f"no result within the time limit (given up after {seconds:.2f} s){note}"
    return flight.task.failed(FailureKind.TIMEOUT, message, seconds=seconds)


def _cancelled(flight: _Flight, now: float) -> Outcome:
    if flight.cancelled_at is not None:
        return _too_slow(flight, now)
    return flight.task.failed(FailureKind.RAISED, "the target cancelled itself", seconds=now - flight.began)


class _Threads:
    """One daemon thread for each attempt at once."""

    def __init__(
        self, shared: _Shared, run_one: RunOne, limits: Limits, failures: "queue.SimpleQueue[BaseException]"
    ) -> None:
        self._shared, self._run_one, self._limits, self._failures = shared, run_one, limits, failures
        self._context = contextvars.copy_context()
        self._running = 0
        self._idle = threading.Condition()

    def start(self) -> None:
        for _ in range(self._limits.concurrency):
            self._add_worker()

    def _add_worker(self) -> None:
        with self._idle:
            self._running += 1
        context = self._context.copy()
        threading.Thread(target=context.run, args=(self._work,), daemon=True, name="attempts").start()

    def _work(self) -> None:
        kept = True
        try:
            while kept and (flight := self._shared.take()) is not None:
                outcome = run_attempt(flight.task, self._run_one, self._limits.max_output_bytes)
                kept = self._shared.land(flight, outcome)
        except BaseException as error:  # a failure to store: the run must hear of it
            self._failures.put(error)
        if kept:
            self._leave()

    def _leave(self) -> None:
        with self._idle:
            self._running -= 1
            self._idle.notify_all()

    def wait(self, seconds: float) -> bool:
        with self._idle:
            return self._idle.wait_for(lambda: self._running == 0, seconds)

    def enforce(self, now: float) -> None:
        shared = self._shared
        with shared.lock:
            late = [flight for flight in shared.flights if now - flight.began > self._limits.timeout_s]
            for flight in late:
                flight.given_up = True
                shared.flights.discard(flight)
                shared.emit(_too_slow(flight, now))
        for _ in late:
            self._add_worker()
            self._leave()


class _Loop:
    """An event loop in a daemon thread, with one coroutine for each attempt at once."""

    def __init__(
        self, shared: _Shared, run_one: RunOne, limits: Limits, failures: "queue.SimpleQueue[BaseException]"
    ) -> None:
        self._shared, self._run_one, self._limits, self._failures = shared, run_one, limits, failures
        self._context = contextvars.copy_context()
        self._done = threading.Event()
        self._loop = asyncio.new_event_loop()

    def start(self) -> None:
        self._done = threading.Event()
        self._loop = asyncio.new_event_loop()
        arguments = (self._loop, self._done)
        threading.Thread(target=self._turn, args=arguments, daemon=True, name="attempts-loop").start()

    def _turn(self, loop: asyncio.AbstractEventLoop, done: threading.Event) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(self._all(loop), context=self._context.copy())
        except BaseException as error:  # a failure to store: the run must hear of it
            self._failures.put(error)
        finally:
            done.set()

    async def _all(self, loop: asyncio.AbstractEventLoop) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._limits.concurrency):
                group.create_task(self._work(loop), context=self._context.copy())

    async def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while (flight := self._shared.take()) is not None:
            running = loop.create_task(run_attempt_async(flight.task, self._run_one, self._limits.max_output_bytes))
            flight.cancel = partial(loop.call_soon_threadsafe, running.cancel)
            try:
                outcome = await running
            except asyncio.CancelledError:
                outcome = _cancelled(flight, time.monotonic())
            if not self._shared.land(flight, outcome):
                return

    def wait(self, seconds: float) -> bool:
        return self._done.wait(seconds)

    def enforce(self, now: float) -> None:
        shared = self._shared
        with shared.lock:
            late = [flight for flight in shared.flights if now - flight.began > self._limits.timeout_s]
            for flight in late:
                if flight.cancelled_at is None and flight.cancel is not None:
                    flight.cancelled_at = now
                    flight.cancel()
            stuck = [f for f in late if f.cancelled_at is not None and now - f.cancelled_at > LOOP_GRACE_S]
            if not stuck:
                return
            for flight in list(shared.flights):
                flight.given_up = True
                if flight in stuck:
                    shared.emit(_too_slow(flight, now, "; it did not yield to the event loop"))
                else:
                    shared.again.append(flight.task)
            shared.flights.clear()
        self.start()
