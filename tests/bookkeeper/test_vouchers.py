"""Vouchers that state their own lines, reversals, and accruals that are reversed by themselves."""

from collections.abc import Callable
from datetime import date

import pytest

from bookkeeping.agents.bookkeeper.accrual_reversals import post_due_reversals
from bookkeeping.agents.bookkeeper.rulebook import rulebook
from bookkeeping.ledger import Book
from tests.bookkeeper.conftest import BookIt, Json
from tests.bookkeeper.records import lines_of, purchase, record


def voucher(doc_type: str, *lines: str, **keys: object) -> Json:
    """A voucher whose lines are written as "6110 D 100.00"."""
    sides = {"D": "debit", "C": "credit"}
    written = [dict(zip(("account", "side", "amount"), line.split(), strict=True)) for line in lines]
    return record(doc_type, lines=[{**line, "side": sides[line["side"]]} for line in written], **keys)


def test_a_journal_voucher_is_posted_as_written(book_it: BookIt) -> None:
    lines = ["6110 D 100.00", "6120 D 20.00", "2040 C 120.00"]
    assert lines_of(book_it(voucher("journal_voucher", *lines))) == lines


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["6110 D 100.00", "2040 C 99.99"], "unbalanced"),
        (["6110 D 100.00", "2999 C 100.00"], "unknown_account"),
        (["6240 D 100.00", "2040 C 100.00"], "inactive_account"),
        (["6110 D -100.00", "2040 C -100.00"], "wrong_sign"),
        (["6110 D 100.00", "2040 C 100.00", "2040 C 0.00"], "wrong_sign"),
        (["6110 D 100.005", "2040 C 100.005"], "out_of_tolerance"),
        (["6110 D 100.00"], "unbalanced"),
    ],
)
def test_a_voucher_that_is_wrong_is_refused(lines: list[str], reason: str, book_it: BookIt) -> None:
    outputs = book_it(voucher("journal_voucher", *lines), inactive_accounts=["6240"])
    assert (outputs["status"], outputs["reason"]) == ("refused", reason)


@pytest.mark.parametrize("doc_type", ["journal_voucher", "reclassification_memo"])
def test_a_voucher_without_lines_is_incomplete(doc_type: str, book_it: BookIt) -> None:
    outputs = book_it(record(doc_type, amounts={"amount": "75.00"}))
    assert (outputs["status"], outputs["reason"], outputs["n_entries"]) == ("refused", "missing_input", 0)


def test_a_reclassification_stays_in_its_statement(book_it: BookIt) -> None:
    moved = ["6140 D 320.00", "6250 C 320.00"]
    assert lines_of(book_it(voucher("reclassification_memo", *moved))) == moved
    across = voucher("reclassification_memo", "1310 D 320.00", "6250 C 320.00")
    assert book_it(across)["reason"] == "unsupported_combination"


def test_opening_balances_are_cleared_against_their_account(book_it: BookIt) -> None:
    lines = ["1040 D 15000.00", "1230 D 800.00", "2010 C 6100.00", "3010 C 5000.00"]
    outputs = book_it(voucher("opening_balance_schedule", *lines))
    assert lines_of(outputs) == [*lines, "3050 C 4700.00"]


def test_a_loss_of_the_year_debits_retained_earnings(book_it: BookIt) -> None:
    lines = ["4010 D 100.00", "6010 C 130.00"]
    assert lines_of(book_it(voucher("year_end_closing", *lines))) == [*lines, "3030 D 30.00"]


def test_a_document_that_is_no_voucher_cannot_state_lines(book_it: BookIt) -> None:
    assert book_it(voucher("freight_invoice", "6110 D 1.00", "2010 C 1.00"))["reason"] == "unsupported_combination"


def test_a_reversal_mirrors_every_line_of_the_original(book_it: BookIt) -> None:
    original = purchase("333.33", "20", number="R-1", currency="USD", amounts={"fx": "0.91337"})
    reversal = record("reversal_voucher", number="S-1", date="2026-04-01", reverses="R-1")
    outputs = book_it(reversal, history=[original])
    # 333.33, 66.67 and 400.00 at 0.91337
    assert lines_of(outputs) == ["6110 C 304.45", "1410 C 60.89", "2010 D 365.35", "7080 C 0.01"]
    assert outputs["posting_date"] == "2026-04-01"


def test_an_entry_is_reversed_once(book_it: BookIt) -> None:
    first = record("reversal_voucher", number="S-1", reverses="D-1")
    outputs = book_it({**first, "number": "S-2"}, history=[purchase(), first])
    assert (outputs["status"], outputs["reason"]) == ("refused", "duplicate")


def test_what_is_not_booked_cannot_be_reversed(book_it: BookIt) -> None:
    assert book_it(record("reversal_voucher", reverses="D-404"))["reason"] == "missing_input"
    assert book_it(purchase(number="D-2", reverses="D-1"), history=[purchase()])["reason"] == "unsupported_combination"


def accrual(doc_type: str = "accrual_memo", **keys: object) -> Json:
    return record(doc_type, date="2026-03-31", **keys)


def test_an_accrual_is_reversed_on_the_first_day_of_the_next_period(
    book_it: BookIt, open_book: Callable[..., Book]
) -> None:
    book = open_book()
    memo = accrual(facts={"direction": "expense"}, amounts={"amount": "900.00"})
    assert book_it(memo, in_book=book)["n_entries"] == 1
    assert post_due_reversals(rulebook(), book, date(2026, 3, 31)) == ()
    (posted,) = post_due_reversals(rulebook(), book, date(2026, 4, 1))
    (reversal,) = book.entries([posted.seq])
    assert reversal.posting_date == date(2026, 4, 1)
    assert [(line.account, line.side, str(line.amount)) for line in reversal.lines] == [
        ("6140", "credit", "900.00"),
        ("2040", "debit", "900.00"),
    ]
    assert post_due_reversals(rulebook(), book, date(2026, 5, 1)) == ()
    by_hand = record("reversal_voucher", number="S-1", date="2026-04-01", reverses="D-1")
    assert book_it(by_hand, in_book=book)["reason"] == "duplicate"


def test_a_revaluation_is_reversed_but_not_that_of_a_bank_balance(
    book_it: BookIt, open_book: Callable[..., Book]
) -> None:
    book = open_book()
    amounts = {"fc": "2000.00", "fx_close": "0.9410", "book": "1830.00"}
    for number, account in (("V-1", "1110"), ("V-2", "1050")):
        sheet = accrual("fx_revaluation_sheet", number=number, amounts=amounts, facts={"item": "asset"})
        book_it({**sheet, "categories": {"origin": account}}, in_book=book)
    assert len(book.entries()) == 2
    post_due_reversals(rulebook(), book, date(2026, 4, 1))
    assert [entry.document_number for entry in book.entries()[2:]] == ["V-1"]


def test_other_documents_are_not_reversed_by_themselves(book_it: BookIt, open_book: Callable[..., Book]) -> None:
    book = open_book()
    book_it(purchase(), in_book=book)
    assert post_due_reversals(rulebook(), book, date(2026, 12, 1)) == ()
