"""Finding the entries of a document by its number."""

import unicodedata

import psycopg

from bookkeeping.ledger import Book, Ledger
from tests.ledger.builders import a_spec, an_entry


def test_the_entries_of_a_document_come_in_the_order_of_the_chain(book: Book) -> None:
    for key, number in (("1", "R-1"), ("2", "R-2"), ("3", "R-1"), ("4", None)):
        book.post(an_entry(key=key, document_number=number))
    assert [entry.seq for entry in book.entries_of_document("R-1")] == [1, 3]
    assert book.entries_of_document("R-1") == book.entries([1, 3])


def test_a_document_that_is_not_in_the_book_has_none(ledger: Ledger, book: Book) -> None:
    ledger.create_book(a_spec()).post(an_entry(document_number="R-1"))
    book.post(an_entry(document_number="R-11"))
    assert book.entries_of_document("R-1") == ()
    assert book.entries_of_document("R\x001") == ()


def test_the_number_is_found_in_any_unicode_form(book: Book) -> None:
    book.post(an_entry(document_number="N\u00ba \u00c9-7"))
    assert len(book.entries_of_document(unicodedata.normalize("NFD", "N\u00ba \u00c9-7"))) == 1


def test_the_lookup_reads_an_index_and_not_the_book(book: Book, raw: psycopg.Connection) -> None:
    book.post(an_entry())
    raw.execute("SET enable_seqscan = off")
    plan = raw.execute(
        "EXPLAIN SELECT seq FROM ledger.entries WHERE book_id = %s AND document_number = %s ORDER BY seq",
        [book.book_id, "R-2031"],
    ).fetchall()
    assert "entries_document" in str(plan)
