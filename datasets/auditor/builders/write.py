"""Writes a draft into a book by COPY, with the triggers off, as somebody with the database's owner's rights could."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import psycopg

from bookkeeping.ledger import Book
from bookkeeping.ledger.canonical import GENESIS
from bookkeeping.ledger.sealing import ENTRY_COLUMNS, LINE_COLUMNS, Place, seal
from bookkeeping.ledger.sealing import draft as drafted

from .draft import Draft, numbered
from .tamper import Row

Tampering = Callable[[list[Row], str], list[Row]]


def sealed_rows(draft: Draft, book: Book) -> list[Row]:
    """The rows that an honest ledger would have written."""
    rows: list[Row] = []
    place = Place(1, GENESIS)
    for item in numbered(draft):
        sealed = seal(drafted(item.entry, draft.currency), book_id=book.book_id, chain=book.chain, place=place,
                      posted_at=item.posted_at)  # fmt: skip
        place = Place(place.seq + 1, sealed.posted.hash)
        head = dict(zip(ENTRY_COLUMNS, sealed.entry_row, strict=True))
        rows.append(Row(head, [dict(zip(LINE_COLUMNS, line, strict=True)) for line in sealed.line_rows]))
    return rows


def write(connection: psycopg.Connection[Any], book: Book, draft: Draft, rows: Sequence[Row]) -> None:
    """Writes journal and records in one transaction. The connection is of a user that may switch triggers off."""
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute("SET LOCAL synchronous_commit = off")
        _copy(connection, "ledger.entries", ENTRY_COLUMNS, (row.head for row in rows))
        _copy(connection, "ledger.lines", LINE_COLUMNS, (line for row in rows for line in row.lines))
        write_records(connection, book, draft)


def write_records(connection: psycopg.Connection[Any], book: Book, draft: Draft) -> None:
    """Writes what the book keeps beside its journal, and its locks."""
    connection.execute(
        "INSERT INTO subledger.books (book_id, country, kept) VALUES (%s, %s, %s)",
        [book.book_id, draft.country, list(draft.kept)],
    )
    for table, rows in draft.records.items():
        if not rows:
            continue
        columns = ("book_id", *dict.fromkeys(name for row in rows for name in row))
        # A column that a row leaves out has the table's default, which COPY does not know by row.
        groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
        for row in rows:
            groups.setdefault(tuple(name for name in columns if name == "book_id" or name in row), []).append(row)
        for names, alike in groups.items():
            _copy(connection, f"subledger.{table}", names, ({**row, "book_id": book.book_id} for row in alike))
    for first_day, lock_time in draft.closed.items():
        connection.execute(
            "UPDATE ledger.periods SET closed_at = %s WHERE book_id = %s AND first_day = %s",
            [lock_time, book.book_id, first_day],
        )


def _copy(
    connection: psycopg.Connection[Any], table: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([row[name] for name in columns])
