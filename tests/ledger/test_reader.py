"""The readers' role: SELECT on everything, and nothing else."""

from collections.abc import Iterator

import psycopg
import pytest

from bookkeeping.ledger import Book, Ledger
from tests.ledger.builders import an_entry


@pytest.fixture
def reader(ledger: Ledger, ledger_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(ledger_url, autocommit=True) as connection:
        connection.execute("SET ROLE ledger_reader")
        yield connection


def test_a_reader_sees_every_table(reader: psycopg.Connection, book: Book) -> None:
    book.post(an_entry())
    tables = [name for (name,) in reader.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'ledger'")]
    assert {"books", "accounts", "periods", "entries", "lines"} <= set(tables)
    for table in tables:
        reader.execute(f"SELECT count(*) FROM ledger.{table}")
    assert reader.execute("SELECT count(*) FROM ledger.lines WHERE book_id = %s", [book.book_id]).fetchone() == (3,)


@pytest.mark.parametrize("change", ["DELETE FROM", "UPDATE", "INSERT INTO", "TRUNCATE"])
def test_a_reader_writes_to_no_table(reader: psycopg.Connection, change: str) -> None:
    tables = [name for (name,) in reader.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'ledger'")]
    for table in tables:
        (column,) = reader.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'ledger' AND table_name = %s"
            " AND is_identity = 'NO' AND is_generated = 'NEVER' LIMIT 1",
            [table],
        ).fetchone()
        rest = {"UPDATE": f" SET {column} = NULL", "INSERT INTO": " DEFAULT VALUES"}.get(change, "")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(f"{change} ledger.{table}{rest}")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT ledger.drop_books(ARRAY[1::bigint])",
        "SELECT 1 FROM ledger.books FOR UPDATE",
        "CREATE TABLE ledger.mine (id int)",
        "ALTER TABLE ledger.entries DISABLE TRIGGER ALL",
        "DROP TABLE ledger.lines",
    ],
)
def test_a_reader_gets_at_the_books_in_no_other_way(reader: psycopg.Connection, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        reader.execute(statement)
