"""The durable end of a run: finished outcomes go to the database in batches, each committed before it counts."""

import queue
import threading
from collections.abc import Callable
from time import sleep
from types import TracebackType

from eval_pipeline.errors import ResultsUnavailable
from eval_pipeline.outcome import Outcome
from eval_pipeline.results import outcomes
from eval_pipeline.results.database import Database
from eval_pipeline.results.lease import Share, claim_share

FLUSH_S = 0.05
"""How long finished outcomes wait for company before they are written; within 250 ms each is durable."""
BATCH = 2500
BATCH_BYTES = 4 * 1024 * 1024
"""A batch ends at this number of outcomes or characters of outputs."""
BACKLOG = 2 * BATCH
BACKLOG_BYTES = 64 * 1024 * 1024
"""What may wait to be written; beyond it workers wait too, so memory stays flat."""
FULL_S = 0.005


class OutcomeWriter:
    """Writes the outcomes of one agent in one run, in a thread and a connection of its own.

    That connection holds the claim on its share of (run, agent), so that no two processes ever write the same outcomes,
    and a claim that is free means that nothing of its last holder is still on its way: entering raises RunIsBusy when
    another holder has it, and waits for a session of the same holder that has the same shard. ``is_owner`` is False
    when ``should_stop`` ended the waiting: then nothing is to be written. ``on_durable`` is called with the outcomes of
    each committed batch, so progress never tells more than is kept. When the database fails, the next ``put`` raises
    ResultsUnavailable, and so does leaving the context.
    """

    def __init__(
        self,
        url: str,
        run_id: str,
        agent: str,
        on_durable: Callable[[list[Outcome]], None] = lambda _: None,
        share: Share | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._url, self._run_id, self._agent = url, run_id, agent
        self._share, self._should_stop = share or Share(), should_stop
        self.is_owner = False
        self._on_durable = on_durable
        self._waiting: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._failure: Exception | None = None
        self._n_put = self._n_taken = (
            0  # characters of outputs: the first touched by who puts, the second by the thread
        )
        self._thread = threading.Thread(target=self._write_all, name="outcome-writer", daemon=True)

    def __enter__(self) -> "OutcomeWriter":
        self._database = Database(self._url)
        try:
            self.is_owner = claim_share(self._database, self._run_id, self._agent, self._share, self._should_stop)
        except BaseException:
            self._database.close()
            raise
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._thread.join()
        self._database.close()
        if error is None:
            self._raise_failure()

    def put(self, outcome: Outcome) -> None:
        """Hands a finished outcome over; not to be called twice at the same time.

        Raises ResultsUnavailable when an earlier one could not be written.
        """
        while self._is_full() and self._failure is None:
            sleep(FULL_S)
        self._raise_failure()
        self._n_put += _size(outcome)
        self._waiting.put(outcome)

    def _is_full(self) -> bool:
        return self._waiting.qsize() >= BACKLOG or self._n_put - self._n_taken > BACKLOG_BYTES

    @property
    def failed(self) -> bool:
        """Whether the database refused an outcome: then the run cannot go on."""
        return self._failure is not None

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise ResultsUnavailable(f"outcomes could not be stored: {self._failure}") from self._failure

    def _write_all(self) -> None:
        try:
            # One sleep for a batch, not one for an outcome: the workers need the interpreter more.
            while not self._closing.wait(FLUSH_S) or not self._waiting.empty():
                while (batch := self._next_batch()) and self._write(batch) >= BATCH:
                    continue
        except Exception as error:  # told to the run by the next put, or when the context is left
            self._failure = error

    def _write(self, batch: list[Outcome]) -> int:
        outcomes.add(self._database, map(outcomes.encoded, batch))
        self._on_durable(batch)
        return len(batch)

    def _next_batch(self) -> list[Outcome]:
        batch: list[Outcome] = []
        size = 0
        while len(batch) < BATCH and size < BATCH_BYTES and not self._waiting.empty():
            batch.append(self._waiting.get())
            size += _size(batch[-1])
        self._n_taken += size
        return batch


def _size(outcome: Outcome) -> int:
    return len(outcome.outputs_text or "")
