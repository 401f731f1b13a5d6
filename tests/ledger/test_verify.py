"""Verifying finds what somebody with the rights of the server's administrator changed behind the rules."""

from collections.abc import Callable

import psycopg
import pytest

from bookkeeping.ledger import Book, Ledger
from bookkeeping.ledger.chain import ChainBreak
from tests.ledger.builders import a_spec, an_entry, credit, debit


@pytest.fixture
def book(ledger: Ledger) -> Book:
    """Five entries."""
    book = ledger.create_book(a_spec())
    book.post_many([an_entry(debit("6110", "10", "12", "USD"), credit("2010", "10", "12", "USD")) for _ in range(5)])
    return book


@pytest.fixture
def tamper(raw: psycopg.Connection, book: Book) -> Callable[[str], None]:
    """Runs a statement on entry 3 with every trigger and foreign key switched off."""

    def run(statement: str) -> None:
        raw.execute("SET session_replication_role = replica")
        raw.execute(f"{statement} WHERE book_id = %s AND seq = 3", [book.book_id])
        raw.commit()

    return run


def test_an_untouched_chain_is_intact(book: Book) -> None:
    report = book.verify()
    assert report.is_intact
    assert (report.n_entries, report.head_seq, report.head_hash) == (5, 5, book.entries([5])[0].hash)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger.entries SET text = text || '.'",
        "UPDATE ledger.entries SET voucher = 'V-000099'",
        "UPDATE ledger.entries SET document_type = 'memo'",
        "UPDATE ledger.entries SET document_number = NULL",
        "UPDATE ledger.entries SET document_date = NULL",
        "UPDATE ledger.entries SET posting_date = posting_date + 1",
        "UPDATE ledger.entries SET posted_at = posted_at + interval '1 microsecond'",
        "UPDATE ledger.entries SET posted_by = 'U2'",
        "UPDATE ledger.lines SET amount = 11",
        "UPDATE ledger.lines SET amount = 10.001",
        "UPDATE ledger.lines SET account = '6250'",
        "UPDATE ledger.lines SET side = CASE side WHEN 'debit' THEN 'credit' ELSE 'debit' END",
        "UPDATE ledger.lines SET currency = 'CHF'",
        "UPDATE ledger.lines SET document_amount = 13",
        "UPDATE ledger.lines SET document_currency = 'CHF'",
        "UPDATE ledger.lines SET text = ''",
        "UPDATE ledger.lines SET line_no = 3 - line_no + 10",
        "DELETE FROM ledger.lines",
    ],
)
def test_a_changed_entry_is_found(book: Book, tamper: Callable[[str], None], change: str) -> None:
    tamper(change)
    assert book.verify().breaks == (ChainBreak(3, "content"),)


def test_the_first_line_is_in_the_hash_as_well_as_the_last(book: Book, tamper: Callable[[str], None]) -> None:
    tamper("UPDATE ledger.lines SET text = CASE line_no WHEN 1 THEN 'x' END")
    assert book.verify().breaks == (ChainBreak(3, "content"),)


def test_a_key_is_no_part_of_the_payload(book: Book, tamper: Callable[[str], None]) -> None:
    """Version 1 does not have it: said here so that nobody relies on it."""
    tamper("UPDATE ledger.entries SET key = 'x'")
    assert book.verify().is_intact


def test_trailing_zeros_that_a_storage_trims_change_nothing(book: Book, tamper: Callable[[str], None]) -> None:
    tamper("UPDATE ledger.lines SET amount = trim_scale(amount)")
    assert book.verify().is_intact


def test_a_missing_entry_is_found(book: Book, tamper: Callable[[str], None]) -> None:
    tamper("DELETE FROM ledger.entries")
    assert book.verify().breaks == (ChainBreak(4, "position"), ChainBreak(4, "link"))


def test_a_changed_hash_breaks_the_entry_and_the_link_after_it(book: Book, tamper: Callable[[str], None]) -> None:
    tamper("UPDATE ledger.entries SET hash = repeat('a', 64)")
    assert book.verify().breaks == (ChainBreak(3, "content"), ChainBreak(4, "link"))


def test_an_entry_of_an_unknown_version_is_not_judged_by_the_rules_of_this_one(
    book: Book, tamper: Callable[[str], None], raw: psycopg.Connection
) -> None:
    raw.execute("ALTER TABLE ledger.entries DROP CONSTRAINT entries_version_check")
    tamper("UPDATE ledger.entries SET version = 2")
    assert book.verify().breaks == (ChainBreak(3, "version"),)


def test_another_chains_entries_are_not_taken_for_this_ones(book: Book, raw: psycopg.Connection) -> None:
    raw.execute("SET session_replication_role = replica")
    raw.execute("UPDATE ledger.books SET chain = chain || '-renamed' WHERE book_id = %s", [book.book_id])
    raw.commit()
    assert [found.kind for found in book.verify().breaks] == ["content"] * 5
