"""The first pass: every hash again, every link, in one reading of the book."""

import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from bookkeeping.agents.auditor.reading import Session
from bookkeeping.ledger.canonical import GENESIS, VERSION
from bookkeeping.ledger.currency import currency_scales

ENTRIES = Path(__file__).with_name("entries.sql").read_text("utf-8")
PAGE = 2000


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of entries, consecutive by position, each of which names the hash of the one before it."""

    first_seq: int
    last_seq: int
    n: int
    prev_hash: str
    last_hash: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What the first pass found: the runs in the order of positions, and the entries that fail by themselves."""

    n: int
    segments: tuple[Segment, ...]
    failing: "array[int]"


@dataclass
class _Scanning:
    segments: list[Segment] = field(default_factory=list)
    failing: "array[int]" = field(default_factory=lambda: array("q"))
    n: int = 0
    _first: int = 0
    _last: int = 0
    _length: int = 0
    _prev_hash: str = ""
    _head: str = ""

    def run(self, pages: Iterator[list[tuple[Any, ...]]]) -> Scan:
        head = self._head
        for page in pages:
            for seq, version, prev_hash, stored, text in page:
                if prev_hash != head or not self._length:
                    self._close()
                    self._first, self._prev_hash = seq, prev_hash
                if (
                    text is None
                    or version != VERSION
                    or sha256(f"{prev_hash}\n{text}".encode()).hexdigest() != stored
                    or not (text.isascii() or unicodedata.is_normalized("NFC", text))
                    or "\x01" in text
                ):
                    self.failing.append(seq)
                head = self._head = stored
                self._last = seq
                self._length += 1
        self._close()
        return Scan(self.n, tuple(self.segments), self.failing)

    def _close(self) -> None:
        if self._length:
            found = Segment(self._first, self._last, self._length, self._prev_hash, self._head)
            self.segments.append(found)
            self.n += self._length
        self._length = 0


def scan(session: Session, book_id: int, chain: str) -> Scan:
    """Reads and hashes the book. Memory does not grow with an intact book."""
    scales = currency_scales()
    parameters = {
        "book_id": book_id, "chain": chain, "currencies": list(scales), "scales": list(scales.values()),
    }  # fmt: skip
    with session.stream("entries", ENTRIES, parameters, PAGE) as pages:
        return _Scanning().run(pages)


def is_whole(found: Scan) -> bool:
    """Whether every entry verifies, in one run of positions from the genesis value."""
    if found.failing or len(found.segments) > 1:
        return False
    return all(item.prev_hash == GENESIS and item.first_seq == 1 for item in found.segments)
