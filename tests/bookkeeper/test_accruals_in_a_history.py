"""A book that is described by its history has the accruals of past periods reversed before a later record arrives."""

from collections.abc import Callable
from typing import Any

import pytest

from bookkeeping.ledger import Book
from tests.bookkeeper.conftest import BookIt, Json
from tests.bookkeeper.records import purchase, record

ACCRUAL: Json = record(
    "accrual_memo",
    number="A-1",
    date="2026-03-31",
    facts={"direction": "expense"},
    amounts={"amount": "900.00"},
    categories={"expense": "professional"},
)
BY_HAND: Json = record("reversal_voucher", number="S-1", date="2026-04-01", reverses="A-1")
IN_APRIL: Json = purchase("950.00", number="R-9", date="2026-04-09", categories={"expense": "professional"})


@pytest.fixture
def entries_with(book_it: BookIt, open_book: Callable[..., Book]) -> Callable[..., list[tuple[Any, ...]]]:
    """The entries of the book after a record arrived: document, its type and the posting date."""

    def run(arriving: Json, **state: Any) -> list[tuple[Any, ...]]:
        book = open_book(**state)
        book_it(arriving, in_book=book, **state)
        return [(e.document_number, e.document_type, e.posting_date.isoformat()) for e in book.entries()]

    return run


BOOKED = ("A-1", "accrual_memo", "2026-03-31")
REVERSED = ("A-1", "reversal_voucher", "2026-04-01")


def test_the_reversal_is_in_the_book_before_the_first_record_of_the_next_period(entries_with: Any) -> None:
    assert entries_with(IN_APRIL, history=[ACCRUAL]) == [
        BOOKED,
        REVERSED,
        ("R-9", "supplier_invoice", "2026-04-09"),
    ]


def test_the_cost_of_the_next_period_is_only_what_the_invoice_has_more(
    book_it: BookIt, open_book: Callable[..., Book]
) -> None:
    book = open_book(history=[ACCRUAL])
    book_it(IN_APRIL, in_book=book, history=[ACCRUAL])
    in_april = [entry.seq for entry in book.entries() if entry.posting_date.month == 4]
    assert str(book.balances(in_april)["6140"]) == "50.00"
    assert str(book.balances()["2040"]) == "0.00"


def test_in_its_own_period_an_accrual_stands(entries_with: Any) -> None:
    assert entries_with(purchase(number="R-9", date="2026-03-31"), history=[ACCRUAL])[:2] == [
        BOOKED,
        ("R-9", "supplier_invoice", "2026-03-31"),
    ]


def test_closing_its_period_begins_the_next(entries_with: Any) -> None:
    late = purchase(number="R-9", date="2026-03-30")
    assert entries_with(late, history=[ACCRUAL], closed_through="2026-03-31")[:2] == [BOOKED, REVERSED]


def test_a_period_closed_since_got_its_reversal_before(entries_with: Any) -> None:
    late = purchase(number="R-9", date="2026-06-01")
    assert entries_with(late, history=[ACCRUAL], closed_through="2026-05-31")[:2] == [BOOKED, REVERSED]


def test_a_reversal_by_hand_comes_second_and_is_a_duplicate(book_it: BookIt) -> None:
    outputs = book_it(BY_HAND, history=[ACCRUAL])
    assert (outputs["status"], outputs["reason"]) == ("refused", "duplicate")


def test_a_reversal_by_hand_in_the_history_is_the_only_one(entries_with: Any) -> None:
    by_hand = ("S-1", "reversal_voucher", "2026-04-01")
    assert entries_with(IN_APRIL, history=[ACCRUAL, BY_HAND])[:2] == [BOOKED, by_hand]
    assert len(entries_with(IN_APRIL, history=[ACCRUAL, BY_HAND])) == 3


def test_the_first_day_of_a_period_that_the_book_does_not_have_is_waited_for(entries_with: Any) -> None:
    year_end = {**ACCRUAL, "date": "2026-12-31"}
    for state in ({}, {"closed_through": "2026-12-31"}):
        in_the_new_year = purchase(number="R-9", date="2027-01-04")
        assert entries_with(in_the_new_year, history=[year_end], **state) == [("A-1", "accrual_memo", "2026-12-31")]


def test_a_revalued_bank_balance_is_not_reversed(entries_with: Any) -> None:
    amounts = {"fc": "2000.00", "fx_close": "0.9410", "book": "1830.00"}
    sheet = record("fx_revaluation_sheet", date="2026-03-31", amounts=amounts, facts={"item": "asset"})
    history = [{**sheet, "number": n, "categories": {"origin": code}} for n, code in (("V-1", "1110"), ("V-2", "1050"))]
    documents = [document for document, _, _ in entries_with(IN_APRIL, history=history)]
    assert documents == ["V-1", "V-2", "V-1", "R-9"]
