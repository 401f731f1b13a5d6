"""The Auditor reads: it can write nothing, and all its sessions see one state of the database."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import psycopg
import pytest

from bookkeeping.agents.auditor.reading import Reader
from bookkeeping.ledger import Book, BookSpec, Entry, Ledger, Line


@pytest.fixture
def reader(auditor_url: str) -> Iterator[Reader]:
    with Reader(auditor_url) as reader:
        yield reader


@pytest.fixture
def ledger(auditor_url: str) -> Iterator[Ledger]:
    with Ledger.connect(auditor_url) as ledger:
        yield ledger


@pytest.fixture
def book(ledger: Ledger) -> Iterator[Book]:
    spec = BookSpec(
        "read", "Larch Trading Ltd", "EUR", "Europe/Berlin", date(2025, 1, 1), date(2025, 12, 31), kind="eval"
    )
    book = ledger.create_book(spec)
    yield book
    ledger.drop_book(book)


def an_entry(number: int) -> Entry:
    day = date(2025, 3, number)
    lines = (Line("1110", "debit", Decimal("10.00")), Line("4010", "credit", Decimal("10.00")))
    return Entry(f"key-{number}", "sales_invoice", None, day, day, "U1", "sale", lines)


def tables(reader: Reader) -> list[str]:
    with reader.snapshot() as snapshot, snapshot.session() as session:
        _, rows = session.rows(
            "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN ('ledger', 'subledger')", {}
        )
    return [name for (name,) in rows]


def test_a_session_reads_every_table_of_the_ledger_and_of_what_is_kept_beside_it(reader: Reader) -> None:
    names = tables(reader)
    assert {"ledger.entries", "ledger.lines", "subledger.books", "subledger.documents"} <= set(names)
    for name in names:
        with reader.snapshot() as snapshot, snapshot.session() as session:
            session.rows(f"SELECT count(*) FROM {name}", {})


@pytest.mark.parametrize(
    "change", ["DELETE FROM {}", "UPDATE {} SET book_id = 0", "INSERT INTO {} (book_id) VALUES (0)"]
)
def test_a_session_writes_to_no_table(reader: Reader, change: str) -> None:
    for name in ("ledger.entries", "ledger.lines", "subledger.books", "subledger.vouchers", "subledger.documents"):
        with (
            pytest.raises((psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.InsufficientPrivilege)),
            reader.sessions() as connection,
        ):
            connection.execute(change.format(name))


@pytest.mark.parametrize("change", ["DELETE FROM ledger.entries", "TRUNCATE subledger.documents", "CREATE TABLE t ()"])
def test_its_role_may_not_write_even_where_the_transaction_would(reader: Reader, change: str) -> None:
    """Two locks, each tried without the other."""
    with reader.sessions() as connection:
        connection.execute("SET default_transaction_read_only = off")
        try:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(change)
        finally:
            connection.execute("SET default_transaction_read_only = on")


def test_its_transactions_are_read_only_even_for_a_role_that_may_write(reader: Reader) -> None:
    with reader.sessions() as connection:
        connection.execute("RESET ROLE")
        try:
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                connection.execute("DELETE FROM ledger.entries")
        finally:
            connection.execute("SET ROLE ledger_reader")


def test_all_sessions_of_a_snapshot_see_what_was_there_when_it_was_taken(reader: Reader, book: Book) -> None:
    book.post(an_entry(1))
    count = "SELECT count(*) FROM ledger.entries WHERE book_id = %(book_id)s"
    with reader.snapshot() as snapshot:
        with snapshot.session() as session:
            before = session.rows(count, {"book_id": book.book_id})[1]
        book.post(an_entry(2))
        with snapshot.session() as session:
            after = session.rows(count, {"book_id": book.book_id})[1]
    with reader.snapshot() as later, later.session() as session:
        now = session.rows(count, {"book_id": book.book_id})[1]
    assert (before, after, now) == ([(1,)], [(1,)], [(2,)])
