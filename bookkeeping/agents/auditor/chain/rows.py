"""Single entries of a broken chain, read again by position or by hash."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from bookkeeping.agents.auditor.reading import Session
from bookkeeping.ledger.canonical import CanonicalFormError, entry_hash
from bookkeeping.ledger.currency import UnknownCurrency
from bookkeeping.ledger.reading import StoredEntry, entries_by_seq
from bookkeeping.ledger.sealing import stored_payload

PAGE = 500


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands and what it is called."""

    seq: int
    entry_id: str
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A book's entries by position. ``entry_id`` is the voucher number, which is unique in a book."""

    session: Session
    book_id: int
    chain: str

    def places(self, seqs: Iterable[int]) -> dict[int, Place]:
        """Those that are there, by position."""
        return self._places("seq = ANY (%(wanted)s)", list(seqs))

    def with_hashes(self, hashes: Iterable[str]) -> dict[str, Place]:
        """By hash, those that have one of these; the one with the lowest position where several have the same."""
        found = self._places("hash = ANY (%(wanted)s)", list(hashes))
        return {place.hash: place for place in sorted(found.values(), key=lambda place: -place.seq)}

    def seqs_between(self, first: int, last: int) -> list[int]:
        """The positions that are there, from one to another, both included."""
        statement = (
            "SELECT seq FROM ledger.entries WHERE book_id = %(book_id)s AND seq BETWEEN %(first)s AND %(last)s"
            " ORDER BY seq"
        )
        _, rows = self.session.rows(statement, {"book_id": self.book_id, "first": first, "last": last})
        return [row[0] for row in rows]

    def stored(self, seqs: Iterable[int]) -> Iterator[StoredEntry]:
        """The entries with their lines, a page at a time."""
        wanted = iter(seqs)
        while page := list(islice(wanted, PAGE)):
            yield from entries_by_seq(self.session.connection, self.book_id, page)

    def payload(self, item: StoredEntry) -> dict[str, Any] | None:
        """The payload from the stored columns, None where one of them has no canonical form."""
        try:
            return stored_payload(item.entry, chain=self.chain, currencies=item.currencies)
        except (CanonicalFormError, UnknownCurrency):
            return None

    def _places(self, which: str, wanted: list[Any]) -> dict[int, Place]:
        if not wanted:
            return {}
        statement = f"SELECT seq, voucher, prev_hash, hash FROM ledger.entries WHERE book_id = %(book_id)s AND {which}"  # noqa: S608 - conditions of this module
        _, rows = self.session.rows(statement, {"book_id": self.book_id, "wanted": wanted})
        return {row[0]: Place(*row) for row in rows}


def hash_of(prev_hash: str, payload: Mapping[str, Any]) -> str | None:
    """The hash by the specification, None where there is none."""
    try:
        return entry_hash(prev_hash, payload)
    except CanonicalFormError:
        return None
