"""The doubles of the Clerk's storage ports, in memory. They keep; they decide nothing.

tests/clerk/test_contract.py runs one suite against these and the real ones, so that they cannot drift apart.
"""

import hashlib
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bookkeeping.intake.ports import (
    QueueItem,
    StoredFile,
    Taken,
    checked_key,
    checked_lease,
    checked_name,
    checked_path,
    path_of,
    payload_text,
)


@dataclass(slots=True)
class _Row:
    queue: str
    payload: str
    n_deliveries: int = 0
    receipt: str | None = None
    leased_until: datetime | None = None
    is_done: bool = False


class MemoryQueue:
    """Stands in for an ``IntakeQueue``, for one attempt."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}

    def put(self, item: QueueItem) -> bool:
        """Keeps the item unless its key is taken."""
        key, row = checked_key(item.key), _Row(checked_name(item.queue), payload_text(item.payload))
        return self._rows.setdefault(key, row) is row

    def queue_of(self, key: str) -> str | None:
        """The queue that the item was put in."""
        row = self._rows.get(checked_key(key))
        return None if row is None else row.queue

    def take(self, queue: str, lease: timedelta) -> Taken | None:
        """The oldest item that nobody has."""
        checked_name(queue)
        now, until = datetime.now(UTC), datetime.now(UTC) + checked_lease(lease)
        for key, row in self._rows.items():
            if row.queue == queue and not row.is_done and (row.leased_until is None or row.leased_until <= now):
                row.receipt, row.leased_until, row.n_deliveries = str(uuid.uuid4()), until, row.n_deliveries + 1
                return Taken(QueueItem(key, queue, json.loads(row.payload)), row.receipt, row.n_deliveries)
        return None

    def done(self, taken: Taken) -> bool:
        """Ends the item."""
        row = self._held(taken)
        if row is not None:
            row.is_done, row.leased_until = True, None
        return row is not None

    def release(self, taken: Taken) -> bool:
        """Gives the item back."""
        row = self._held(taken)
        if row is not None:
            row.receipt = row.leased_until = None
        return row is not None

    def depth(self, queue: str) -> int:
        """How many items are not done."""
        checked_name(queue)
        return sum(row.queue == queue and not row.is_done for row in self._rows.values())

    def _held(self, taken: Taken) -> _Row | None:
        row = self._rows.get(taken.item.key)
        return row if row is not None and not row.is_done and row.receipt == taken.receipt else None


class MemorySink:
    """Stands in for a ``FileSink``, for one attempt."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def store(self, area: str, content: bytes) -> StoredFile:
        """Keeps the bytes, the same ones once an area."""
        digest = hashlib.sha256(content).hexdigest()
        path = path_of(area, digest)
        is_new = path not in self._files
        self._files[path] = bytes(content)
        return StoredFile(path, digest, is_new)

    def read(self, path: str) -> bytes:
        """The bytes at a path."""
        found = self._files.get(checked_path(path))
        if found is None:
            raise FileNotFoundError(path)
        return found

    def holds(self, path: str) -> bool:
        """Whether there are bytes at a path."""
        return checked_path(path) in self._files

    def paths(self, area: str) -> tuple[str, ...]:
        """All paths of an area."""
        checked_name(area)
        return tuple(sorted(path for path in self._files if path.startswith(f"{area}/")))
