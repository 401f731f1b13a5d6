"""Workers for code that a thread cannot stop (``runs="process"``): each attempt runs in a process that can be killed.

One thread for each process hands it tasks and takes its outcomes. An attempt over its limit is ended by killing its
process; a fresh one takes its place. A process that dies by itself is the ERROR of the example that it was at.
"""

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from multiprocessing.connection import Pipe

from eval_pipeline.flights import Flight, Flights, Limits
from eval_pipeline.outcome import FailureKind, Outcome
from eval_pipeline.process_child import Opening

START_S = 120.0
"""How long a process may take to import and open the target; the time limit of an attempt begins after that."""
GRACE_S = 5.0
"""How long a process has to close its target when the run is over."""


_BEGIN = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from eval_pipeline.process_child import main
main(int(sys.argv[2]), int(sys.argv[3]))
"""


class _NotOpened(Exception):
    """The target could not be opened in a worker process; with the reason."""


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, opening: bytes) -> None:
        self._connection, theirs = Pipe()
        arguments = [sys.executable, "-c", _BEGIN, json.dumps(sys.path), str(theirs.fileno()), str(os.getpid())]
        # What is printed in there goes to stderr: stdout belongs to the command's own answer.
        self.process = subprocess.Popen(  # noqa: S603
            arguments, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=2
        )
        theirs.close()
        try:
            self._connection.send_bytes(opening)
            self._wait_until_open()
        except BaseException:
            self.kill()
            raise

    def _wait_until_open(self) -> None:
        try:
            if not self._connection.poll(START_S):
                raise _NotOpened(f"it was not open after {START_S:g} s")
            reason: str | None = self._connection.recv()
        except (EOFError, ConnectionError):
            raise _NotOpened(f"the worker process ended {self._how()}") from None
        if reason is not None:
            raise _NotOpened(reason)

    def run(self, flight: Flight) -> Outcome:
        """The outcome of an attempt. That its process died is an outcome too."""
        try:
            self._connection.send(flight.task)
            outcome: Outcome = self._connection.recv()
        except (EOFError, ConnectionError):
            return flight.task.failed(FailureKind.RAISED, f"the worker process ended {self._how()}")
        return outcome

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """Ends the process at once."""
        self.process.kill()
        self.process.wait()
        self._connection.close()

    def close(self) -> None:
        """Lets the process close its target; kills it when that takes too long."""
        self._connection.close()  # it reads the end of the pipe
        try:
            self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _how(self) -> str:
        try:
            code = self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        return f"by signal {-code}" if code < 0 else f"with exit code {code}"


class ProcessWorkers:
    """The processes of one run. ``failures`` gets what ends the run: an outcome that could not be stored."""

    def __init__(
        self, flights: Flights, opening: Opening, limits: Limits, failures: "queue.SimpleQueue[BaseException]"
    ) -> None:
        self._flights, self._limits, self._failures = flights, limits, failures
        self._opening = opening
        self._running = 0
        self._idle = threading.Condition()
        self._busy: dict[Flight, _Worker] = {}

    def start(self) -> None:
        """Starts as many processes as there may be attempts at once, and no more than there are processors."""
        self._pickled = pickle.dumps(self._opening)
        for _ in range(min(self._limits.concurrency, os.cpu_count() or 1)):
            self._running += 1
            threading.Thread(target=self._work, daemon=True, name="attempts-process").start()

    def wait(self, seconds: float) -> bool:
        """Waits for all to finish, at most so long; whether they have."""
        with self._idle:
            return self._idle.wait_for(lambda: self._running == 0, seconds)

    def enforce(self, now: float) -> None:
        """Kills the process of every attempt that is over the time limit."""
        with self._flights.lock:
            for flight in self._flights.late(now, self._limits.timeout_s):
                flight.given_up = True
                self._flights.flying.discard(flight)
                self._flights.emit(flight.too_slow(now, "; its process was killed"))
                self._kill(flight)

    def stop(self) -> None:
        """Kills what is still at an attempt."""
        with self._flights.lock:
            for flight in list(self._busy):
                self._kill(flight)

    def _kill(self, flight: Flight) -> None:
        worker = self._busy.get(flight)
        if worker is not None:
            worker.process.kill()

    def _work(self) -> None:
        worker: _Worker | None = None
        try:
            while True:
                try:
                    # Before an attempt is taken: its time limit begins when it is.
                    worker = worker if worker is not None and worker.is_alive else _Worker(self._pickled)
                except _NotOpened as reason:
                    self._fail_all(f"the target could not be opened: {reason}")
                    return
                flight = self._flights.take()
                if flight is None:
                    return
                if not self._flights.land(flight, self._outcome(flight, worker)):
                    worker.kill()
                    worker = None
        except BaseException as error:  # a failure to store: the run must hear of it
            self._failures.put(error)
        finally:
            if worker is not None:
                worker.close()
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    def _outcome(self, flight: Flight, worker: _Worker) -> Outcome:
        with self._flights.lock:
            self._busy[flight] = worker
        try:
            return worker.run(flight)
        finally:
            with self._flights.lock:
                del self._busy[flight]

    def _fail_all(self, message: str) -> None:
        while (flight := self._flights.take()) is not None:
            self._flights.land(flight, flight.task.failed(FailureKind.RAISED, message))
