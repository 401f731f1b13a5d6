"""Workers for coroutine targets: an event loop in a daemon thread, with one coroutine for each attempt at once.

An attempt over its limit is cancelled. One that does not let go is given up, and its loop with it; so is one that
blocks the loop. What else was in flight on that loop runs again on a new one, so nobody pays for a sibling. Blocking
that is shorter than the time limit is not seen: it takes its time from all attempts in flight.
"""

import asyncio
import contextvars
import queue
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

from eval_pipeline.attempt import run_attempt_async
from eval_pipeline.flights import Flight, Flights, Limits
from eval_pipeline.outcome import FailureKind, Outcome
from eval_pipeline.target import RunOne

BEAT_S = 0.05
BLOCKED_S = 0.2
"""A loop beats every BEAT_S; one whose last beat is older than BLOCKED_S is held for blocked."""
GRACE_S = 1.0
"""How long an attempt has to let go after it was cancelled."""

_flight: contextvars.ContextVar[Flight | None] = contextvars.ContextVar("eval_pipeline_flight", default=None)


class _LoopThread:
    """One event loop that turns in a thread of its own, and knows to which flight each of its tasks belongs."""

    def __init__(
        self, main: Callable[["_LoopThread"], Coroutine[Any, Any, None]], failures: "queue.SimpleQueue[BaseException]"
    ) -> None:
        self.done = threading.Event()
        self._main, self._failures = main, failures
        self._beat = time.monotonic()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._flights: weakref.WeakKeyDictionary[asyncio.Task[Any], Flight] = weakref.WeakKeyDictionary()

    def start(self) -> None:
        threading.Thread(target=self._turn, daemon=True, name="attempts-loop").start()

    def is_blocked(self, now: float) -> bool:
        return now - self._beat > BLOCKED_S

    def in_hand(self, flying: Iterable[Flight]) -> Flight | None:
        """The flight whose task, or a task of its task, the loop is running at this moment, as far as can be told."""
        task = asyncio.current_task(self._loop) if self._loop else None
        if task is None:
            return None
        return next((flight for flight in flying if flight.running is task), self._flights.get(task))

    def _turn(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            self._loop.set_task_factory(self._make_task)
            try:
                runner.run(self._all())
            except BaseException as error:  # a failure to store: the run must hear of it
                self._failures.put(_innermost(error))
            finally:
                self.done.set()  # before the runner closes: that waits for threads which attempts left behind

    def _make_task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> "asyncio.Task[Any]":
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, **options)
        context = options.get("context")
        flight = _flight.get() if context is None else context.get(_flight)
        if flight is not None:
            self._flights[task] = flight
        return task

    async def _all(self) -> None:
        beating = asyncio.create_task(self._beats())
        try:
            await self._main(self)
        finally:
            beating.cancel()

    async def _beats(self) -> None:
        while True:
            self._beat = time.monotonic()
            await asyncio.sleep(BEAT_S)


class LoopWorkers:
    """The coroutines of one run. ``failures`` gets what ends the run: an outcome that could not be stored."""

    def __init__(
        self, flights: Flights, run_one: RunOne, limits: Limits, failures: "queue.SimpleQueue[BaseException]"
    ) -> None:
        self._flights, self._run_one, self._limits, self._failures = flights, run_one, limits, failures
        self._context = contextvars.copy_context()
        self._thread: _LoopThread | None = None

    def start(self) -> None:
        """Starts a loop; what the one before it still does is dropped."""
        self._thread = _LoopThread(self._all, self._failures)
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Waits for all to finish, at most so long; whether they have."""
        return self._thread is not None and self._thread.done.wait(seconds)

    def stop(self) -> None:
        """Cancels what is in flight, so that its clean-up runs; nobody waits for it."""
        with self._flights.lock:
            for flight in self._flights.flying:
                if flight.running is not None:
                    with suppress(RuntimeError):  # the loop is closed: then nothing of it is in flight any more
                        flight.running.get_loop().call_soon_threadsafe(flight.running.cancel)

    def enforce(self, now: float) -> None:
        """Cancels what is over the time limit, and gives up a loop that is held by it."""
        with self._flights.lock:
            guilty = self._guilty(now)
            if not guilty:
                return
            for flight in self._flights.flying:
                flight.given_up = True
                if flight in guilty:
                    self._flights.emit(flight.too_slow(now, "; it did not yield to the event loop"))
                else:
                    self._flights.again.append(flight.task)
            self._flights.flying.clear()
            self._thread = None
        self.start()

    def _guilty(self, now: float) -> list[Flight]:
        """The flights that hold the loop: the one that blocks it, or those that were cancelled and did not let go."""
        late = self._flights.late(now, self._limits.timeout_s)
        thread = self._thread
        if not late or thread is None:
            return []
        if thread.is_blocked(now):
            blocking = thread.in_hand(self._flights.flying)
            if blocking is not None:
                return [blocking] if blocking in late else []
            return [flight for flight in late if now - flight.began > self._limits.timeout_s + GRACE_S]
        for flight in late:
            if flight.cancelled_at is None and flight.running is not None:
                flight.cancelled_at = now
                flight.running.get_loop().call_soon_threadsafe(flight.running.cancel)
        return [flight for flight in late if flight.cancelled_at is not None and now - flight.cancelled_at > GRACE_S]

    async def _all(self, thread: _LoopThread) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._limits.concurrency):
                group.create_task(self._work(thread))

    async def _work(self, thread: _LoopThread) -> None:
        loop = asyncio.get_running_loop()
        while (flight := self._flights.take(lambda: self._thread is thread)) is not None:
            context = self._context.copy()  # each attempt its own: what one sets the next does not see
            context.run(_flight.set, flight)
            attempt = run_attempt_async(flight.task, self._run_one, self._limits.max_output_bytes)
            # Not by the loop's factory, which asks to which flight a task belongs: of this one it is known.
            flight.running = asyncio.Task(attempt, loop=loop, context=context)
            if not self._flights.land(flight, await _landed(flight, flight.running)):
                return


def _innermost(error: BaseException) -> BaseException:
    """What was raised, out of the groups that a TaskGroup makes of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _landed(flight: Flight, running: "asyncio.Task[Outcome]") -> Outcome:
    """The outcome of an attempt; what it brings after it was cancelled for its time is no result."""
    try:
        outcome = await running
    except asyncio.CancelledError:
        worker = asyncio.current_task()
        if worker is not None and worker.cancelling():  # the run ends here: it is not the target that cancelled
            raise
        seconds = time.monotonic() - flight.began
        outcome = flight.task.failed(FailureKind.RAISED, "the target cancelled itself", seconds=seconds)
    return outcome if flight.cancelled_at is None else flight.too_slow(time.monotonic())
