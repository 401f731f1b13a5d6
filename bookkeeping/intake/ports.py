"""The storage ports of the Clerk, and the values that go through them. Behind them nothing is decided."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from bookkeeping.ports import storage_port

_NAME = re.compile(r"[a-z][a-z_]{0,39}", re.ASCII)
_KEY = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,199}", re.ASCII)
_PATH = re.compile(r"[a-z][a-z_]{0,39}/[0-9a-f]{2}/[0-9a-f]{64}", re.ASCII)
MAX_LEASE = timedelta(days=1)


class IntakeUnavailable(Exception):
    """The queue's database or the sink does not answer. The message names the place, never a password."""


@dataclass(frozen=True, slots=True)
class QueueItem:
    """What is put: ``key`` is the idempotency key, ``queue`` the name of the queue, ``payload`` plain JSON."""

    key: str
    queue: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """An item that was handed out. ``receipt`` belongs to this delivery; ``n_deliveries`` counts it too."""

    item: QueueItem
    receipt: str
    n_deliveries: int


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Where bytes are: ``path`` below the sink's root. ``is_new``: they were not there before."""

    path: str
    digest: str
    is_new: bool


@storage_port
class IntakeQueue(Protocol):
    """Named queues, first in, first out, delivered at least once.

    A key is put once: whoever puts it again changes nothing, also when its item is done. An item that was taken is
    handed out again when its lease has run out before it was said to be done.
    """

    def put(self, item: QueueItem) -> bool:
        """Keeps the item, durable on return. False when its key is taken. Raises ValueError, IntakeUnavailable."""

    def queue_of(self, key: str) -> str | None:
        """The queue that the item of this key was put in, done or not; None when there is none."""

    def take(self, queue: str, lease: timedelta) -> Taken | None:
        """The oldest item that nobody has, for the time of ``lease`` (0 to MAX_LEASE); None when there is none."""

    def done(self, taken: Taken) -> bool:
        """Ends the item. False when its lease was lost to another delivery, or it is done: then nothing changes."""

    def release(self, taken: Taken) -> bool:
        """Gives the item back at once. False as for ``done``."""

    def depth(self, queue: str) -> int:
        """How many items are not done."""


@storage_port
class FileSink(Protocol):
    """Bytes by area and content. No name of a submission is part of a path."""

    def store(self, area: str, content: bytes) -> StoredFile:
        """Keeps the bytes, whole or not at all; the same bytes in one area once. Raises ValueError for an area."""

    def read(self, path: str) -> bytes:
        """The bytes at a path that ``store`` gave. Raises ValueError for any other, FileNotFoundError."""

    def holds(self, path: str) -> bool:
        """Whether there are bytes at a path that ``store`` gave. Raises ValueError for any other."""

    def paths(self, area: str) -> tuple[str, ...]:
        """All paths of an area, sorted. Raises ValueError for a name that is none."""


def checked_name(name: str) -> str:
    """The name of a queue or an area: small letters and underscores, at most 40. Raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a queue or an area")
    return name


def checked_key(key: str) -> str:
    """An idempotency key: 1 to 200 letters, digits and ``._:-``. Raises ValueError."""
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no idempotency key")
    return key


def checked_path(path: str) -> str:
    """A path as ``store`` gives it. Raises ValueError, so that no other path is ever opened."""
    if not _PATH.fullmatch(path):
        raise ValueError(f"{path!r} is no path of the sink")
    return path


def checked_lease(lease: timedelta) -> timedelta:
    """A lease of 0 to MAX_LEASE. Raises ValueError."""
    if not timedelta(0) <= lease <= MAX_LEASE:
        raise ValueError(f"a lease is between 0 and {MAX_LEASE}, not {lease}")
    return lease


def payload_text(payload: Mapping[str, Any]) -> str:
    """The payload as JSON in ASCII: any text survives, U+0000 and lone surrogates too. Raises ValueError, TypeError."""
    return json.dumps(payload, ensure_ascii=True, allow_nan=False, sort_keys=True)


def path_of(area: str, digest: str) -> str:
    """Where the bytes with this SHA-256 are kept in an area."""
    return checked_path(f"{checked_name(area)}/{digest[:2]}/{digest}")
