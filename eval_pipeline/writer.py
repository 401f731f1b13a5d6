"""The durable end of a run: finished outcomes go to the database in batches, each committed before it counts."""

import queue
import threading
from collections.abc import Callable
from time import monotonic
from types import TracebackType

from eval_pipeline.errors import ResultsUnavailable
from eval_pipeline.outcome import Outcome
from eval_pipeline.results import outcomes
from eval_pipeline.results.database import Database

FLUSH_S = 0.1
"""The longest that a finished outcome waits for company before it is written."""
BATCH = 1000
BACKLOG = 5000
"""Finished outcomes that may wait to be written; beyond it workers wait too, so memory stays flat."""


class OutcomeWriter:
    """Writes outcomes in a thread and a connection of its own.

    ``on_durable`` is called with the outcomes of each committed batch, so progress never tells more than is kept. When
    the database fails, the next ``put`` raises ResultsUnavailable, and so does leaving the context.
    """

    def __init__(self, url: str, on_durable: Callable[[list[Outcome]], None] = lambda _: None) -> None:
        self._url = url
        self._on_durable = on_durable
        self._waiting: queue.Queue[Outcome | None] = queue.Queue(BACKLOG)
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._write_all, name="outcome-writer", daemon=True)

    def __enter__(self) -> "OutcomeWriter":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.put(None)
        self._thread.join()
        if error is None:
            self._raise_failure()

    def put(self, outcome: Outcome) -> None:
        """Hands a finished outcome over. Raises ResultsUnavailable when an earlier one could not be written."""
        self._raise_failure()
        self._waiting.put(outcome)

    @property
    def failed(self) -> bool:
        """Whether the database refused an outcome: then the run cannot go on."""
        return self._failure is not None

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise ResultsUnavailable(f"outcomes could not be stored: {self._failure}") from self._failure

    def _write_all(self) -> None:
        try:
            with Database(self._url) as database:
                while (batch := self._next_batch()) is not None:
                    outcomes.add(database, map(outcomes.encoded, batch))
                    self._on_durable(batch)
        except Exception as error:  # told to the run by the next put, or when the context is left
            self._failure = error
            self._drain()

    def _next_batch(self) -> list[Outcome] | None:
        first = self._waiting.get()
        if first is None:
            return None
        batch = [first]
        until = monotonic() + FLUSH_S
        while len(batch) < BATCH:
            try:
                item = self._waiting.get(timeout=max(0.0, until - monotonic()))
            except queue.Empty:
                break
            if item is None:
                self._waiting.put(None)
                break
            batch.append(item)
        return batch

    def _drain(self) -> None:
        """Keeps taking, so that nobody who puts waits for ever on a full queue."""
        while self._waiting.get() is not None:
            continue
