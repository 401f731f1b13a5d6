"""One company's book: post to it, read it back, close its periods, verify its chain."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

from bookkeeping.ledger import chain, posting, reading
from bookkeeping.ledger.book_spec import Period
from bookkeeping.ledger.canonical import CanonicalFormError, canonical_text
from bookkeeping.ledger.chain import ChainReport
from bookkeeping.ledger.connection import Database
from bookkeeping.ledger.entry import Entry, Line, Posted, PostedEntry
from bookkeeping.ledger.errors import LedgerRefusal
from bookkeeping.ledger.posting import Clock
from bookkeeping.ledger.sealing import draft


@dataclass(frozen=True, slots=True)
class Book:
    """A book of a Ledger, safe to use from several threads.

    Every method raises LedgerUnavailable when the database is gone.
    """

    book_id: int
    chain: str
    company: str
    currency: str
    time_zone: str
    kind: Literal["live", "eval"]
    _database: Database = field(repr=False, compare=False)
    _clock: Clock = field(repr=False, compare=False)

    def post(self, entry: Entry) -> Posted:
        """Posts an entry; a key that was posted before posts nothing and returns the first receipt, duplicate=True.

        Raises LedgerRefusal, after which nothing of the entry is in the book.
        """
        drafted = draft(entry, self.currency)
        with self._database.connection() as connection:
            return posting.post_one(connection, self.book_id, drafted, self._clock, durable=self._is_durable)

    def post_many(self, entries: Iterable[Entry]) -> tuple[Posted, ...]:
        """Posts entries in their order by COPY, all or none: the same rows and hashes as one by one.

        Receipts are in the order of the entries. Raises LedgerRefusal, after which none of them is in the book.
        """
        drafts = [draft(entry, self.currency) for entry in entries]
        with self._database.connection() as connection:
            return posting.post_many(connection, self.book_id, drafts, self._clock, durable=self._is_durable)

    def entries(self, seqs: Iterable[int] | None = None) -> tuple[PostedEntry, ...]:
        """The entries at these positions with their lines, or all, in the order of the chain."""
        with self._database.connection() as connection:
            if seqs is None:
                return tuple(stored.entry for stored in reading.all_entries(connection, self.book_id))
            return tuple(stored.entry for stored in reading.entries_by_seq(connection, self.book_id, list(seqs)))

    def entry_of(self, key: str) -> PostedEntry | None:
        """The entry that was posted with this key."""
        with self._database.connection() as connection:
            stored = reading.entry_by_key(connection, self.book_id, canonical_text(key))
        return stored.entry if stored else None

    def entries_of_document(self, number: str) -> tuple[PostedEntry, ...]:
        """The entries whose document has this number, in the order of the chain: the booking before its reversal.

        Found by an index. Empty also for a number that no entry can have (U+0000).
        """
        try:
            canonical = canonical_text(number)
        except CanonicalFormError:
            return ()
        with self._database.connection() as connection:
            stored = reading.entries_by_document(connection, self.book_id, canonical)
        return tuple(found.entry for found in stored)

    def lines(self, seq: int) -> tuple[Line, ...]:
        """The lines of the entry at a position, in ledger order; empty when there is no such entry."""
        return tuple(line for entry in self.entries([seq]) for line in entry.lines)

    def balances(self, seqs: Iterable[int] | None = None) -> dict[str, Decimal]:
        """Debits less credits of each account touched by the entries at these positions, or by all.

        In book currency with its decimals, by account code; an account whose lines cancel out is there with zero.
        """
        with self._database.connection() as connection:
            return reading.balances(connection, self.book_id, self.currency, None if seqs is None else list(seqs))

    def period_of(self, day: date) -> Period | None:
        """The fiscal period with this day, or None outside all periods of the book."""
        with self._database.connection() as connection:
            return reading.period_of(connection, self.book_id, day)

    def periods(self) -> tuple[Period, ...]:
        """All fiscal periods by date."""
        with self._database.connection() as connection:
            return reading.periods(connection, self.book_id)

    def next_open_day(self, day: date) -> date | None:
        """The first day on or after `day` in an open period, or None where there is none."""
        with self._database.connection() as connection:
            return reading.next_open_day(connection, self.book_id, day)

    def close_through(self, day: date) -> None:
        """Closes the periods up to and including the one with this day, for good."""
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE ledger.periods SET closed_at = %s WHERE book_id = %s AND first_day <= %s AND closed_at IS NULL",
                [self._clock(), self.book_id, day],
            )

    def deactivate(self, account: str) -> None:
        """Closes an account for posting in this book. Raises LedgerRefusal unknown_account."""
        with self._database.connection() as connection, connection.transaction():
            # Under the chain's lock, so that no posting that began before ends after.
            connection.execute(
                "WITH book AS (SELECT book_id, chart_id FROM ledger.books WHERE book_id = %s FOR NO KEY UPDATE)"
                " INSERT INTO ledger.inactive_accounts (book_id, chart_id, code)"
                " SELECT book_id, chart_id, %s FROM book ON CONFLICT DO NOTHING",
                [self.book_id, account],
            )

    def verify(self) -> ChainReport:
        """Re-hashes the whole chain from the stored columns, in one snapshot."""
        with self._database.connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            found = connection.execute("SELECT chain FROM ledger.books WHERE book_id = %s", [self.book_id]).fetchone()
            if found is None:
                raise LedgerRefusal("unknown_book", f"book {self.chain} is not there any more")
            return chain.verify(found[0], reading.all_entries(connection, self.book_id))

    @property
    def _is_durable(self) -> bool:
        return self.kind == "live"
