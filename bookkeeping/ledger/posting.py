"""Writing to a chain: one entry in two round trips, many by COPY, under the same lock and by the same rows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bookkeeping.ledger.canonical import GENESIS
from bookkeeping.ledger.connection import Connection
from bookkeeping.ledger.entry import Posted
from bookkeeping.ledger.errors import LedgerRefusal
from bookkeeping.ledger.sealing import ENTRY_COLUMNS, LINE_COLUMNS, Draft, Place, Sealed, seal

# The book's row is the chain's lock. The head is read by a later statement: it must see what the last holder wrote.
_LOCK = "SELECT chain FROM ledger.books WHERE book_id = %s FOR NO KEY UPDATE"
_HEAD = "SELECT seq, hash FROM ledger.entries WHERE book_id = %s ORDER BY seq DESC LIMIT 1"
# book_id + 0: by the index of keys, never by reading all of the book (see the indexes in 0001_tables.sql).
_POSTED = "SELECT key, seq, voucher, hash, posted_at FROM ledger.entries WHERE book_id + 0 = %s AND key = ANY (%s)"
_UNLOGGED = "SET LOCAL synchronous_commit = off"

_LINE_TYPES = ("bigint", "bigint", "int", "text", "text", "numeric", "text", "numeric", "text", "text")
_INSERT = f"""
    WITH head AS (
        INSERT INTO ledger.entries ({", ".join(ENTRY_COLUMNS)}) VALUES ({", ".join(["%s"] * len(ENTRY_COLUMNS))})
    )
    INSERT INTO ledger.lines ({", ".join(LINE_COLUMNS)})
    SELECT * FROM unnest({", ".join(f"%s::{name}[]" for name in _LINE_TYPES)})
"""  # noqa: S608 - column names of this module, no input
_COPY_ENTRIES = f"COPY ledger.entries ({', '.join(ENTRY_COLUMNS)}) FROM STDIN"
_COPY_LINES = f"COPY ledger.lines ({', '.join(LINE_COLUMNS)}) FROM STDIN"

Clock = Callable[[], datetime]


@contextmanager
def transaction(connection: Connection, *, pipelined: bool, durable: bool) -> Iterator[None]:
    """A transaction. Throw-away books are not worth the wait for the disk: `durable` False commits without it."""
    with ExitStack() as stack:
        if pipelined:
            stack.enter_context(connection.pipeline())
        stack.enter_context(connection.transaction())
        if not durable:
            connection.execute(_UNLOGGED)
        yield


def post_one(connection: Connection, book_id: int, drafted: Draft, clock: Clock, *, durable: bool) -> Posted:
    """Posts a draft once. Raises psycopg's errors for what the database refuses, LedgerRefusal for a dropped book."""
    with transaction(connection, pipelined=True, durable=durable):
        chain, place, known = _locked(connection, book_id, [drafted.key])
        if drafted.key in known:
            return known[drafted.key]
        sealed = seal(drafted, book_id=book_id, chain=chain, place=place, posted_at=clock())
        columns = [list(column) for column in zip(*sealed.line_rows, strict=True)] or [[]] * len(LINE_COLUMNS)
        connection.execute(_INSERT, [*sealed.entry_row, *columns])
    return sealed.posted


def post_many(
    connection: Connection, book_id: int, drafts: Sequence[Draft], clock: Clock, *, durable: bool
) -> tuple[Posted, ...]:
    """Posts drafts in their order, all or none; a key that is there already, or twice among them, is posted once."""
    with transaction(connection, pipelined=False, durable=durable):
        chain, place, known = _locked(connection, book_id, [drafted.key for drafted in drafts])
        receipts: list[Posted] = []
        new: list[Sealed] = []
        for drafted in drafts:
            if drafted.key in known:
                receipts.append(known[drafted.key])
                continue
            sealed = seal(drafted, book_id=book_id, chain=chain, place=place, posted_at=clock())
            place = Place(sealed.posted.seq + 1, sealed.posted.hash)
            known[drafted.key] = replace(sealed.posted, duplicate=True)
            receipts.append(sealed.posted)
            new.append(sealed)
        if new:
            _copy(connection, _COPY_ENTRIES, (sealed.entry_row for sealed in new))
            _copy(connection, _COPY_LINES, (row for sealed in new for row in sealed.line_rows))
    return tuple(receipts)


def _locked(connection: Connection, book_id: int, keys: list[str]) -> tuple[str, Place, dict[str, Posted]]:
    """Takes the chain's lock; returns the chain, the next place, and what is posted already of `keys`."""
    book = connection.execute(_LOCK, [book_id])
    head = connection.execute(_HEAD, [book_id])
    posted = connection.execute(_POSTED, [book_id, keys])
    row = book.fetchone()
    if row is None:
        raise LedgerRefusal("unknown_book", "the book is not there any more")
    last = head.fetchone()
    place = Place(last[0] + 1, last[1]) if last else Place(1, GENESIS)
    known = {
        key: Posted(seq, voucher, digest, posted_at.astimezone(UTC), duplicate=True)
        for key, seq, voucher, digest, posted_at in posted
    }
    return row[0], place, known


def _copy(connection: Connection, statement: str, rows: Iterator[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
