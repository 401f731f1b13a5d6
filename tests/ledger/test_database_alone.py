"""What the database refuses by itself, from a writer that knows nothing of our Python.

Everything here is raw SQL. Hashes are well formed and not right: the database checks the links, `verify` the content.
"""

from datetime import date
from typing import Any

import psycopg
import pytest

from bookkeeping.ledger import Book, Ledger
from tests.ledger.builders import a_spec, an_entry

GOOD_LINES = ({"account": "6110"}, {"account": "2010", "side": "credit"})
HASH = "a" * 64


@pytest.fixture
def book(ledger: Ledger) -> Book:
    return ledger.create_book(a_spec(closed_through=date(2026, 2, 28), inactive_accounts=frozenset({"6240"})))


def insert(raw: psycopg.Connection, table: str, row: dict[str, Any]) -> None:
    names, values = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    raw.execute(f"INSERT INTO ledger.{table} ({names}) VALUES ({values})", row)


def add_head(raw: psycopg.Connection, book: Book, **changes: Any) -> None:
    """An entry without its lines; what is not given is right."""
    head = {
        "book_id": book.book_id, "seq": 1, "version": 1, "key": "k", "voucher": "v", "document_type": "memo",
        "posting_date": date(2026, 3, 4), "posted_at": "2026-03-04T12:00:00Z", "posted_by": "sql", "text": "",
        "n_lines": 2, "prev_hash": "0" * 64, "hash": HASH,
    }  # fmt: skip
    insert(raw, "entries", head | changes)


def write(raw: psycopg.Connection, book: Book, *lines: dict[str, Any], **head: Any) -> None:
    """An entry of two lines in a transaction of its own; what is not given is right."""
    add_head(raw, book, **head)
    for number, line in enumerate(lines or GOOD_LINES, start=1):
        add_line(raw, book, **({"seq": head.get("seq", 1), "line_no": number} | line))
    raw.commit()


def add_line(raw: psycopg.Connection, book: Book, **changes: Any) -> None:
    line = {
        "book_id": book.book_id, "seq": 1, "line_no": 1, "account": "6110", "side": "debit", "amount": "1.00",
        "currency": "EUR", "document_amount": changes.get("amount", "1.00"), "document_currency": "EUR",
    } | changes  # fmt: skip
    insert(raw, "lines", line)


def refused(error: pytest.ExceptionInfo[psycopg.Error]) -> str | None:
    return error.value.diag.constraint_name


def both(**changes: Any) -> tuple[dict[str, Any], ...]:
    """Two lines that balance, both with the changes."""
    return tuple(line | changes for line in GOOD_LINES)


def test_a_right_entry_is_taken(raw: psycopg.Connection, book: Book) -> None:
    write(raw, book)
    assert len(book.lines(1)) == 2


@pytest.mark.parametrize(
    ("constraint", "lines"),
    [
        ("entry_balanced", ({"account": "6110", "amount": "1.01"}, GOOD_LINES[1])),
        ("entry_balanced", (GOOD_LINES[0], GOOD_LINES[0])),
        ("line_declared", (GOOD_LINES[0] | {"line_no": 3}, GOOD_LINES[1])),
        ("line_account_exists", ({"account": "9999"}, GOOD_LINES[1])),
        ("line_account_active", ({"account": "6240"}, GOOD_LINES[1])),
        ("line_amount_above_zero", both(amount="0")),
        ("line_amount_above_zero", both(amount="-1")),
        ("line_amount_in_range", both(amount="NaN")),
        ("line_amount_in_range", both(amount="Infinity")),
        ("line_amount_in_range", both(amount="1e18")),
        ("line_amount_scale", both(amount="1.001")),
        ("line_document_amount_scale", both(document_amount="1.5", document_currency="JPY")),
        ("line_document_amount_not_negative", both(document_amount="-1", document_currency="JPY")),
        ("line_document_amount_in_range", both(document_amount="NaN", document_currency="JPY")),
        ("line_document_currency_known", both(document_currency="XYZ")),
        ("line_currency_of_book", both(currency="USD")),
        ("line_amounts_agree", both(document_amount="2.00")),
        ("line_side_known", both(side="left")),
        ("line_text_nfc", both(text="cafe\u0301")),
        ("line_of_entry", both(seq=7)),
    ],
)
def test_wrong_lines_are_refused(raw: psycopg.Connection, book: Book, constraint: str, lines: Any) -> None:
    with pytest.raises(psycopg.Error) as error:
        write(raw, book, *lines)
    assert refused(error) == constraint
    raw.rollback()
    assert book.entries() == ()


@pytest.mark.parametrize(
    ("constraint", "head"),
    [
        ("entry_period_open", {"posting_date": date(2026, 2, 28)}),
        ("entry_period_exists", {"posting_date": date(2027, 1, 1)}),
        ("entry_has_two_lines", {"n_lines": 1}),
        ("entry_complete", {"n_lines": 3}),
        ("entry_linked", {"prev_hash": "b" * 64}),
        ("entry_linked", {"seq": 2}),
        ("entry_prev_hash_form", {"prev_hash": "0" * 63}),
        ("entry_hash_form", {"hash": "A" * 64}),
        ("entry_dates_in_range", {"document_date": "infinity"}),
        ("entry_dates_in_range", {"document_date": "0044-03-15 BC"}),
        ("entry_names_given", {"posted_by": ""}),
        ("entry_text_nfc", {"text": "cafe\u0301"}),
        ("entry_text_nfc", {"key": "cafe\u0301"}),
    ],
    ids=str,
)
def test_a_wrong_head_is_refused(raw: psycopg.Connection, book: Book, constraint: str, head: dict) -> None:
    with pytest.raises(psycopg.Error) as error:
        write(raw, book, **head)
    assert refused(error) == constraint


def test_a_key_a_voucher_and_a_place_in_the_chain_are_taken_once(raw: psycopg.Connection, book: Book) -> None:
    write(raw, book)
    second = {"seq": 2, "key": "k2", "voucher": "v2", "prev_hash": HASH, "hash": "b" * 64}
    for constraint, changes in (
        ("entry_key_once", {"key": "k"}),
        ("entry_voucher_once", {"voucher": "v"}),
        ("entries_pkey", {"seq": 1, "prev_hash": "0" * 64}),
    ):
        with pytest.raises(psycopg.errors.UniqueViolation) as error:
            write(raw, book, **(second | changes))
        assert refused(error) == constraint
        raw.rollback()
    write(raw, book, **second)
    assert len(book.entries()) == 2


class TestPostedIsFinal:
    @pytest.mark.parametrize(
        ("constraint", "change"),
        [
            ("entries_final", "UPDATE ledger.entries SET text = 'x' WHERE book_id = %s"),
            ("line_of_entry", "DELETE FROM ledger.entries WHERE book_id = %s"),
            ("entries_final", "TRUNCATE ledger.entries CASCADE"),
            ("lines_final", "UPDATE ledger.lines SET amount = amount + 1 WHERE book_id = %s"),
            ("lines_final", "UPDATE ledger.lines SET text = text WHERE book_id = %s"),
            ("lines_final", "DELETE FROM ledger.lines WHERE book_id = %s"),
            ("lines_final", "DELETE FROM ledger.lines WHERE book_id = %s AND line_no = 1"),
            ("lines_final", "TRUNCATE ledger.lines"),
            ("lines_final", "SELECT ledger.drop_books(ARRAY[%s::bigint])"),
            ("books_final", "UPDATE ledger.books SET kind = 'eval', owner = 'x' WHERE book_id = %s"),
            ("books_final", "UPDATE ledger.books SET chain = 'x' WHERE book_id = %s"),
            ("periods_final", "DELETE FROM ledger.periods WHERE book_id = %s"),
            (
                "periods_final",
                "UPDATE ledger.periods SET closed_at = NULL WHERE book_id = %s AND closed_at IS NOT NULL",
            ),
            ("periods_final", "UPDATE ledger.periods SET first_day = '2030-01-01' WHERE book_id = %s"),
            ("accounts_final", "UPDATE ledger.accounts SET name = 'x'"),
            ("accounts_final", "DELETE FROM ledger.accounts"),
            ("charts_final", "DELETE FROM ledger.charts"),
            ("currencies_final", "UPDATE ledger.currencies SET scale = 4"),
            ("currencies_final", "DELETE FROM ledger.currencies"),
        ],
    )
    def test_a_change_is_refused(self, raw: psycopg.Connection, book: Book, constraint: str, change: str) -> None:
        posted = book.post(an_entry())
        with pytest.raises(psycopg.Error) as error:
            raw.execute(change, [book.book_id] if "%s" in change else None)
            raw.commit()
        assert refused(error) == constraint
        raw.rollback()
        assert book.verify().head_hash == posted.hash
        assert book.verify().is_intact

    def test_a_live_book_without_entries_is_not_deleted_either(self, raw: psycopg.Connection, ledger: Ledger) -> None:
        raw.execute(
            "INSERT INTO ledger.books (chain, company, currency, time_zone, chart_id, kind)"
            " SELECT 'bare', 'x', 'EUR', 'UTC', chart_id, 'live' FROM ledger.charts"
        )
        raw.commit()
        with pytest.raises(psycopg.errors.RestrictViolation) as error:
            raw.execute("DELETE FROM ledger.books WHERE chain = 'bare'")
        assert refused(error) == "books_final"

    def test_lines_that_balance_are_not_added_to_a_posted_entry(self, raw: psycopg.Connection, book: Book) -> None:
        write(raw, book)
        with pytest.raises(psycopg.Error) as error:
            add_line(raw, book, line_no=3)
        assert refused(error) == "line_declared"

    def test_an_entry_may_not_wait_for_its_lines(self, raw: psycopg.Connection, book: Book) -> None:
        """Else an entry could be committed empty and filled in a later period."""
        with pytest.raises(psycopg.Error) as error:
            write(raw, book, GOOD_LINES[0])
        assert refused(error) == "entry_complete"


class TestClosing:
    def test_a_period_is_not_closed_under_an_open_posting(
        self, raw: psycopg.Connection, book: Book, ledger_url: str
    ) -> None:
        add_head(raw, book)
        with psycopg.connect(ledger_url) as other:
            other.execute("SET lock_timeout = '200ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute(
                    "UPDATE ledger.periods SET closed_at = now() WHERE book_id = %s AND closed_at IS NULL",
                    [book.book_id],
                )
        raw.rollback()

    def test_an_account_of_no_chart_cannot_be_made_inactive(self, raw: psycopg.Connection, book: Book) -> None:
        with pytest.raises(psycopg.errors.ForeignKeyViolation) as error:
            raw.execute(
                "INSERT INTO ledger.inactive_accounts"
                " SELECT book_id, chart_id, '9999' FROM ledger.books WHERE book_id = %s",
                [book.book_id],
            )
        assert refused(error) == "inactive_account_in_chart"


def test_no_column_of_money_is_binary_floating_point(raw: psycopg.Connection) -> None:
    floats = raw.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'ledger' AND data_type IN ('real', 'double precision')"
    ).fetchall()
    assert floats == []
