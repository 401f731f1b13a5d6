"""Posting and reading back: what is posted is there, once, in one chain."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import count

import psycopg
import pytest
from psycopg.rows import dict_row

from bookkeeping.ledger import Book, Ledger, LedgerRefusal, Line
from bookkeeping.ledger.canonical import GENESIS, entry_hash
from tests.ledger.builders import MARCH_4, NOON, a_spec, an_entry, credit, debit


def test_what_is_read_back_is_what_was_posted(book: Book) -> None:
    entry = an_entry(
        debit("6150", "92.15", "15000", "JPY", text="taxi"), credit("2060", "92.15", "15000", "JPY", text=""),
        document_number=None, document_date=date(2026, 3, 2), voucher="A/12\\3",
        text='He said "ok" <&>\n\tline 2 😀 \u0001',
    )  # fmt: skip
    posted = book.post(entry)

    (stored,) = book.entries()

    assert stored.lines == entry.lines
    assert book.lines(posted.seq) == entry.lines
    for field in (
        "key",
        "voucher",
        "document_type",
        "document_number",
        "document_date",
        "posting_date",
        "posted_by",
        "text",
    ):
        assert getattr(stored, field) == getattr(entry, field)
    assert (stored.seq, stored.version, stored.prev_hash) == (1, 1, GENESIS)
    assert (stored.hash, stored.posted_at, stored.voucher) == (posted.hash, posted.posted_at, posted.voucher)


def test_a_line_that_states_no_document_amount_states_the_books_amount(book: Book) -> None:
    seq = book.post(an_entry(debit("6110", "10"), credit("2010", "10.0"))).seq
    assert book.lines(seq) == (debit("6110", "10.00", "10.00", "EUR"), credit("2010", "10.00", "10.00", "EUR"))


@pytest.mark.parametrize(
    ("currency", "amount", "text"), [("EUR", "5", "5.00"), ("JPY", "15000.00", "15000"), ("KWD", "18.6", "18.600")]
)
def test_amounts_come_back_at_their_currencys_scale(ledger: Ledger, currency: str, amount: str, text: str) -> None:
    book = ledger.create_book(a_spec(currency=currency))
    seq = book.post(an_entry(debit("6110", amount), credit("2010", amount))).seq
    assert [str(line.amount) for line in book.lines(seq)] == [text, text]
    assert {account: str(balance) for account, balance in book.balances().items()} == {"6110": text, "2010": f"-{text}"}


def test_the_hash_can_be_recomputed_by_hand(ledger: Ledger, ledger_url: str) -> None:
    """The payload written out, so that a change of the stored form is seen here."""
    with Ledger.connect(ledger_url, clock=lambda: NOON) as clocked:
        book = clocked.create_book(a_spec(chain="by-hand"))
        posted = book.post(an_entry(debit("6110", "1000"), credit("2010", "1000")))
    line = {
        "amount": "1000.00",
        "currency": "EUR",
        "document_amount": "1000.00",
        "document_currency": "EUR",
        "text": None,
    }
    payload = {
        "chain": "by-hand", "version": 1, "seq": 1, "voucher": "V-000001", "posted_at": "2026-03-04T12:00:00.123456Z",
        "posted_by": "bookkeeper", "posting_date": "2026-03-04", "document_date": "2026-03-04",
        "document_type": "supplier_invoice", "document_number": "R-2031", "text": "rent for March",
        "lines": [{"account": "6110", "side": "debit"} | line, {"account": "2010", "side": "credit"} | line],
    }  # fmt: skip
    assert posted.hash == entry_hash("0" * 64, payload)


def test_text_is_stored_as_it_is_hashed_in_nfc(book: Book, raw: psycopg.Connection) -> None:
    posted = book.post(an_entry(text="cafe\u0301", key="re\u0301sume\u0301"))
    stored = raw.execute("SELECT text, key FROM ledger.entries WHERE book_id = %s", [book.book_id]).fetchone()
    assert stored == ("caf\u00e9", "r\u00e9sum\u00e9")
    assert book.post(an_entry(key="r\u00e9sum\u00e9")) == replace(posted, duplicate=True)
    assert book.verify().is_intact


def test_the_time_of_posting_is_kept_in_utc_to_the_microsecond(ledger_url: str, ledger: Ledger) -> None:
    tokyo = datetime(2026, 3, 5, 0, 30, 0, 999999, tzinfo=timezone(timedelta(hours=9)))
    with Ledger.connect(ledger_url, clock=lambda: tokyo) as clocked:
        book = clocked.create_book(a_spec())
        posted = book.post(an_entry())
        assert book.entries()[0].posted_at == posted.posted_at == datetime(2026, 3, 4, 15, 30, 0, 999999, tzinfo=UTC)
        assert posted.posted_at.tzinfo == UTC
        assert book.verify().is_intact


class TestIdempotency:
    def test_a_key_is_posted_once_and_its_second_posting_returns_the_first_receipt(self, book: Book) -> None:
        entry = an_entry()
        first = book.post(entry)
        assert first.duplicate is False
        assert book.post(entry) == replace(first, duplicate=True)
        assert len(book.entries()) == 1

    def test_a_key_decides_even_when_the_second_entry_is_another(self, book: Book) -> None:
        first = book.post(an_entry(key="same"))
        second = book.post(an_entry(debit("6110", "1"), credit("2010", "1"), key="same"))
        assert second == replace(first, duplicate=True)
        assert book.balances()["2010"] == Decimal("-1190.00")

    def test_the_same_key_in_another_book_is_another_document(self, ledger: Ledger) -> None:
        one, other = ledger.create_book(a_spec()), ledger.create_book(a_spec())
        entry = an_entry()
        assert not one.post(entry).duplicate
        assert not other.post(entry).duplicate

    def test_a_refused_entry_leaves_its_key_free(self, book: Book) -> None:
        with pytest.raises(LedgerRefusal):
            book.post(an_entry(debit("6110", "1.00"), credit("2010", "1.01"), key="again"))
        assert book.entry_of("again") is None
        assert book.post(an_entry(key="again")).seq == 1

    def test_a_key_finds_its_entry(self, book: Book) -> None:
        posted = book.post(an_entry(key="here"))
        found = book.entry_of("here")
        assert found is not None
        assert found.hash == posted.hash


class TestBulk:
    def rows(self, url: str, chain: str) -> tuple[list[dict], list[dict]]:
        with psycopg.connect(url, row_factory=dict_row) as connection:
            book = "(SELECT book_id FROM ledger.books WHERE chain = %s)"
            entries = connection.execute(
                f"SELECT to_jsonb(e) - 'book_id' AS row FROM ledger.entries e WHERE book_id = {book} ORDER BY seq",
                [chain],
            ).fetchall()
            lines = connection.execute(
                "SELECT to_jsonb(l) - 'book_id' || jsonb_build_object('amount', amount::text, 'document_amount',"
                f" document_amount::text) AS row FROM ledger.lines l WHERE book_id = {book} ORDER BY seq, line_no",
                [chain],
            ).fetchall()
        return entries, lines

    def ticking(self):
        ticks = count()
        return lambda: NOON + timedelta(microseconds=next(ticks))

    def test_bulk_posting_gives_the_same_rows_and_hashes_as_posting_one_by_one(
        self, harness_url: str, harness_ledger: Ledger
    ) -> None:
        entries = [
            an_entry(key="a", text="cafe\u0301 \\N \t \\ \n"),
            an_entry(debit("6150", "92.15", "15000", "JPY", text=""), credit("2060", "92.15", "15000.0", "JPY"),
                     key="b"),
            an_entry(debit("6250", "1E+2", "18.6", "KWD", text="\\."), credit("2010", "100", "18.600", "KWD"), key="c",
                     document_number=None, document_date=None, voucher="own-1"),
            an_entry(key="a", text="the first again"),
        ]  # fmt: skip
        found = []
        for post in (lambda book: [book.post(entry) for entry in entries], lambda book: list(book.post_many(entries))):
            with Ledger.connect(harness_url, clock=self.ticking()) as clocked:
                book = clocked.create_book(a_spec(chain="both-ways", kind="eval"))
                found.append((post(book), *self.rows(harness_url, "both-ways"), book.verify()))
                clocked.drop_book(book)
        one_by_one, bulk = found
        # The clock ticks once more for the book itself and once for each new entry, in both ways alike.
        assert bulk == one_by_one
        assert [posted.duplicate for posted in bulk[0]] == [False, False, False, True]
        assert (len(bulk[1]), len(bulk[2]), bulk[3].is_intact) == (3, 7, True)

    def test_bulk_goes_on_where_the_chain_stands_and_leaves_out_what_is_there(self, book: Book) -> None:
        first = book.post(an_entry(key="a"))
        receipts = book.post_many([an_entry(key="b"), an_entry(key="a"), an_entry(key="b")])
        assert [(r.seq, r.duplicate) for r in receipts] == [(2, False), (1, True), (2, True)]
        assert receipts[1] == replace(first, duplicate=True)
        assert book.post(an_entry(key="c")).seq == 3
        assert book.verify().is_intact

    def test_bulk_is_all_or_nothing(self, book: Book) -> None:
        with pytest.raises(LedgerRefusal) as refusal:
            book.post_many([an_entry(), an_entry(debit("6110", "1.00"), credit("2010", "1.01")), an_entry()])
        assert refusal.value.code == "unbalanced"
        assert book.entries() == ()

    def test_nothing_to_post_is_no_error(self, book: Book) -> None:
        assert book.post_many([]) == ()

    def test_every_entry_of_a_long_book_is_read_back(self, book: Book) -> None:
        """More than one page of the reader."""
        book.post_many([an_entry(debit("6110", "1"), credit("2010", "1")) for _ in range(1001)])
        assert [entry.seq for entry in book.entries()] == list(range(1, 1002))
        assert book.verify().n_entries == 1001


class TestConcurrency:
    def test_eight_threads_keep_one_unbroken_chain(self, book: Book) -> None:
        with ThreadPoolExecutor(8) as threads:
            work = [threads.submit(book.post, an_entry(debit("6110", "1"), credit("2010", "1"))) for _ in range(200)]
            receipts = [item.result() for item in work]
        assert sorted(receipt.seq for receipt in receipts) == list(range(1, 201))
        report = book.verify()
        assert report.is_intact
        assert (report.n_entries, report.head_seq) == (200, 200)
        assert book.balances() == {"2010": Decimal("-200.00"), "6110": Decimal("200.00")}

    def test_eight_threads_with_one_document_post_it_once(self, book: Book) -> None:
        entry = an_entry()
        with ThreadPoolExecutor(8) as threads:
            receipts = list(threads.map(lambda _: book.post(entry), range(24)))
        assert sorted(receipt.duplicate for receipt in receipts) == [False] + [True] * 23
        assert len({receipt.hash for receipt in receipts}) == 1
        assert len(book.entries()) == 1

    def test_a_default_of_repeatable_read_breaks_nothing(self, book: Book, ledger_url: str) -> None:
        """A snapshot from before the lock would not see the entry of the thread that held it."""
        url = f"{ledger_url}&options=-c%20default_transaction_isolation%3Drepeatable%5C%20read"
        with Ledger.connect(url) as strict, ThreadPoolExecutor(8) as threads:
            same = strict.open_book(book.chain)
            assert len(list(threads.map(lambda _: same.post(an_entry()), range(40)))) == 40
        assert book.verify().is_intact


class TestBalances:
    def test_balances_are_debits_less_credits_of_the_entries_asked_for(self, book: Book) -> None:
        first = book.post(an_entry())
        second = book.post(an_entry(debit("2010", "1190.00"), credit("1040", "1190.00")))
        assert book.balances([first.seq]) == {
            "1410": Decimal("190.00"),
            "2010": Decimal("-1190.00"),
            "6110": Decimal("1000.00"),
        }
        assert book.balances([first.seq, second.seq])["2010"] == 0
        assert str(book.balances()["2010"]) == "0.00"
        assert book.balances([]) == {}

    def test_two_lines_on_one_account_stay_two_lines(self, book: Book) -> None:
        seq = book.post(an_entry(debit("6110", "1"), debit("6110", "2"), credit("2010", "3"), posting_date=MARCH_4)).seq
        assert [line.amount for line in book.lines(seq)] == [Decimal(1), Decimal(2), Decimal(3)]
        assert book.balances()["6110"] == Decimal(3)

    def test_a_line_of_the_books_currency_alone_may_have_no_foreign_amount(self, book: Book) -> None:
        """The gain of a revaluation: euros move, dollars do not."""
        lines: tuple[Line, ...] = (debit("1110", "3.10", "0", "USD"), credit("7030", "3.10", "0", "USD"))
        seq = book.post(an_entry(*lines)).seq
        assert [str(line.document_amount) for line in book.lines(seq)] == ["0.00", "0.00"]
