"""Reading a book back from its stored columns."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, date
from decimal import Decimal
from typing import Any

from bookkeeping.ledger.book_spec import Period
from bookkeeping.ledger.connection import Connection
from bookkeeping.ledger.entry import Line, PostedEntry
from bookkeeping.ledger.sealing import at_scale

PAGE = 1000

_HEAD = tuple(field.name for field in fields(PostedEntry) if field.name != "lines")
_ENTRIES = f"SELECT {', '.join(_HEAD)} FROM ledger.entries WHERE book_id = %s"  # noqa: S608 - columns, no input

_LINES = """
    SELECT seq, account, side, amount, currency, document_amount, document_currency, text
      FROM ledger.lines WHERE book_id = %s AND seq = ANY (%s) ORDER BY seq, line_no
"""
_BALANCES = """
    SELECT account, sum(CASE side WHEN 'debit' THEN amount ELSE -amount END)
      FROM ledger.lines WHERE book_id = %s AND (%s::bigint[] IS NULL OR seq = ANY (%s))
     GROUP BY account ORDER BY account
"""
_PERIOD = "SELECT first_day, last_day, closed_at IS NOT NULL FROM ledger.periods WHERE book_id = %s"


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry as stored; `currencies` are the book currencies that its lines name."""

    entry: PostedEntry
    currencies: tuple[str, ...]


def entries_by_seq(connection: Connection, book_id: int, seqs: list[int]) -> tuple[StoredEntry, ...]:
    """The entries at these positions, in the order of the chain."""
    return _read(connection, book_id, "seq = ANY (%s)", seqs, None)


def entry_by_key(connection: Connection, book_id: int, key: str) -> StoredEntry | None:
    """The entry with this idempotency key, or None."""
    return next(iter(_read(connection, book_id, "key = %s", key, None)), None)


def entries_by_document(connection: Connection, book_id: int, number: str) -> tuple[StoredEntry, ...]:
    """The entries of the document with this number, in the order of the chain."""
    return _read(connection, book_id, "document_number = %s", number, None)


def all_entries(connection: Connection, book_id: int) -> Iterator[StoredEntry]:
    """Every entry in the order of the chain, fetched a page at a time."""
    last = 0
    while page := _read(connection, book_id, "seq > %s", last, PAGE):
        yield from page
        last = page[-1].entry.seq


def _read(connection: Connection, book_id: int, which: str, value: Any, limit: int | None) -> tuple[StoredEntry, ...]:
    heads = connection.execute(f"{_ENTRIES} AND {which} ORDER BY seq LIMIT %s", [book_id, value, limit]).fetchall()
    if not heads:
        return ()
    lines: dict[int, list[tuple[Line, str]]] = {head[0]: [] for head in heads}
    for seq, account, side, amount, currency, *document, text in connection.execute(_LINES, [book_id, list(lines)]):
        scaled = at_scale(document[0], document[1])
        lines[seq].append((Line(account, side, at_scale(amount, currency), scaled, document[1], text), currency))
    return tuple(_stored(head, lines[head[0]]) for head in heads)


def _stored(head: tuple[Any, ...], lines: list[tuple[Line, str]]) -> StoredEntry:
    columns = dict(zip(_HEAD, head, strict=True))
    columns["posted_at"] = columns["posted_at"].astimezone(UTC)
    entry = PostedEntry(**columns, lines=tuple(line for line, _ in lines))
    return StoredEntry(entry, tuple(currency for _, currency in lines))


def balances(connection: Connection, book_id: int, currency: str, seqs: list[int] | None) -> dict[str, Decimal]:
    """Debits less credits of every account that the entries touch, at the book currency's scale."""
    rows = connection.execute(_BALANCES, [book_id, seqs, seqs])
    return {account: at_scale(total, currency) for account, total in rows}


def period_of(connection: Connection, book_id: int, day: date) -> Period | None:
    """The fiscal period with this day."""
    row = connection.execute(f"{_PERIOD} AND %s BETWEEN first_day AND last_day", [book_id, day]).fetchone()
    return Period(*row) if row else None


def periods(connection: Connection, book_id: int) -> tuple[Period, ...]:
    """All fiscal periods of the book by date."""
    return tuple(Period(*row) for row in connection.execute(f"{_PERIOD} ORDER BY first_day", [book_id]))


def next_open_day(connection: Connection, book_id: int, day: date) -> date | None:
    """The first day, `day` or later, in an open period."""
    row = connection.execute(
        f"{_PERIOD} AND closed_at IS NULL AND last_day >= %s ORDER BY first_day LIMIT 1", [book_id, day]
    ).fetchone()
    return max(row[0], day) if row else None
