"""Workers for blocking targets: one daemon thread for each attempt at once.

A thread cannot be killed. One that is over its limit is given up: a fresh one takes its place, and it lives on as a
daemon until it ends or the process does.
"""

import contextvars
import queue
import threading

from eval_pipeline.attempt import run_attempt
from eval_pipeline.flights import Flights, Limits
from eval_pipeline.target import RunOne


class ThreadWorkers:
    """The threads of one run. ``failures`` gets what ends the run: an outcome that could not be stored."""

    def __init__(
        self, flights: Flights, run_one: RunOne, limits: Limits, failures: "queue.SimpleQueue[BaseException]"
    ) -> None:
        self._flights, self._run_one, self._limits, self._failures = flights, run_one, limits, failures
        self._context = contextvars.copy_context()
        self._running = 0
        self._idle = threading.Condition()

    def start(self) -> None:
        """Starts as many threads as there may be attempts at once."""
        for _ in range(self._limits.concurrency):
            self._add_worker()

    def wait(self, seconds: float) -> bool:
        """Waits for all to finish, at most so long; whether they have."""
        with self._idle:
            return self._idle.wait_for(lambda: self._running == 0, seconds)

    def enforce(self, now: float) -> None:
        """Gives up every attempt that is over the time limit."""
        with self._flights.lock:
            late = self._flights.late(now, self._limits.timeout_s)
            for flight in late:
                flight.given_up = True
                self._flights.flying.discard(flight)
                self._flights.emit(flight.too_slow(now))
        for _ in late:
            self._add_worker()
            self._leave()

    def stop(self) -> None:
        """Nothing: a thread cannot be ended. What it still brings is dropped."""

    def _add_worker(self) -> None:
        with self._idle:
            self._running += 1
        threading.Thread(target=self._work, daemon=True, name="attempts").start()

    def _work(self) -> None:
        kept = True
        try:
            while kept and (flight := self._flights.take()) is not None:
                context = self._context.copy()  # each attempt its own: what one sets the next does not see
                outcome = context.run(run_attempt, flight.task, self._run_one, self._limits.max_output_bytes)
                kept = self._flights.land(flight, outcome)
        except BaseException as error:  # a failure to store: the run must hear of it
            self._failures.put(error)
        if kept:
            self._leave()

    def _leave(self) -> None:
        with self._idle:
            self._running -= 1
            self._idle.notify_all()
