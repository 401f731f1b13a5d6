"""Refusals are answers: a code, a sentence, and nothing in the book."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bookkeeping.agents.bookkeeper.desk import HistoryError
from bookkeeping.agents.bookkeeper.graph import BookkeeperContext, book_spec, build_graph
from bookkeeping.ledger import Book, Ledger, LedgerRefusal, LedgerUnavailable
from eval_pipeline.postgres import embedded
from tests.bookkeeper.conftest import LARCH, BookIt, Json
from tests.bookkeeper.records import purchase, record, sale


def bank_line(**facts: str) -> Json:
    return record("bank_statement", event="1", facts=facts, amounts={"amount": "10.00"})


REFUSED: list[tuple[str, Json]] = [
    ("non_posting_type", record("purchase_order", amounts={"net": "1.00"})),
    ("non_posting_type", record("love_letter")),
    ("unknown_currency", purchase(currency="ABC")),
    ("missing_rate", purchase(currency="CHF")),
    (
        "missing_rate",
        record(
            "bank_statement",
            event="1",
            facts={"match": "customer", "settlement": "full_or_part"},
            amounts={"fc": "900.00", "fx_inv": "0.86"},
        ),
    ),
    ("missing_input", record("supplier_invoice", amounts={"net": "1.00"})),
    ("missing_input", record("supplier_invoice", amounts={"net": None, "rate": "20"})),
    ("missing_input", record("sales_invoice", amounts={"net": "1.00", "rate": "20"})),
    ("missing_input", bank_line(match="customer")),
    ("missing_input", bank_line(match="customer", settlement="full_or_part", currency="foreign")),
    (
        "missing_input",
        record("landed_cost_allocation", amounts={"freight": "1", "value_on_hand": "0", "value_sold": "0"}),
    ),
    ("wrong_sign", record("utility_bill", amounts={"net": "-1.00", "rate": "20"})),
    ("vat_mismatch", purchase(stated={"vat": "210.00"})),
    ("vat_mismatch", purchase(facts={"basis": "vat_out_of_tolerance"})),
    ("unbalanced", purchase(stated={"vat": "200.00", "gross": "1200.01"})),
    ("out_of_tolerance", purchase(amounts={"payable": "1300.00"})),
    ("out_of_tolerance", purchase(amounts={"deductible": "101"})),
    (
        "out_of_tolerance",
        record("small_difference_write_off", facts={"party": "customer"}, amounts={"invoice": "5.00", "paid": "3.99"}),
    ),
    (
        "out_of_tolerance",
        record("prepayment_release_schedule", amounts={"total": "9.00", "months": "0", "month_no": "1"}),
    ),
    (
        "out_of_tolerance",
        record("prepayment_release_schedule", amounts={"total": "9.00", "months": "3", "month_no": "1.5"}),
    ),
    ("unknown_category", record("payment_receipt", amounts={"amount": "1.00"}, categories={"money": "shells"})),
    ("unknown_category", record("cheque_payment", amounts={"amount": "1.00"}, categories={"liability": "friends"})),
    (
        "unknown_account",
        record(
            "reversal_voucher", amounts={"net": "1.00", "vat": "0.20", "gross": "1.20"}, categories={"origin": "6999"}
        ),
    ),
    ("inactive_account", purchase(categories={"expense": "penalty"})),
    ("period_closed", purchase(posting_date="2025-12-31")),
    ("unsupported_combination", bank_line(match="customer", settlement="discount", currency="foreign")),
    ("unsupported_combination", bank_line(match="customers")),
    ("unsupported_combination", sale("100.00", "20", facts={"tax": "none"})),
    ("unsupported_combination", sale(facts={"tax": "two_rates"})),
]


@pytest.mark.parametrize(("reason", "refused"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_record_that_cannot_be_booked_is_refused_with_its_reason(
    reason: str, refused: Json, book_it: BookIt, open_book: Callable[..., Book]
) -> None:
    book = open_book(inactive_accounts=["6240"])
    outputs = book_it(refused, in_book=book)
    assert (outputs["status"], outputs["reason"]) == ("refused", reason), outputs["explanation"]
    assert outputs["explanation"].endswith(".")
    assert (outputs["n_entries"], outputs["n_lines"], outputs["lines"], outputs["balances"]) == (0, 0, [], {})
    assert (outputs["posting_date"], outputs["entry_hashes"]) == (None, [])
    assert book.entries() == ()


def test_every_reason_of_the_rules_has_a_refusal_here_or_with_the_duplicates() -> None:
    from bookkeeping.agents.bookkeeper.rulebook import rulebook

    assert {reason for reason, _ in REFUSED} | {"duplicate"} == set(rulebook().general.results.reject)


def test_what_does_not_matter_to_the_choice_need_not_be_stated(book_it: BookIt) -> None:
    assert book_it(bank_line(match="fee"))["rule"] == "bank_statement.bank_fee"


@pytest.mark.parametrize(
    ("nothing", "reason"),
    [
        (sale("0.00"), "zero_amount"),
        (record("cash_count_sheet", amounts={"book": "5.00", "count": "5.00"}), "zero_amount"),
        (record("stock_adjustment_note", facts={"difference": "none"}), "zero_amount"),
        (record("inventory_write_down", amounts={"qty": "1", "unit_cost": "2", "unit_nrv": "3"}), "zero_amount"),
        (record("corrected_invoice", facts={"correction": "none"}), "no_change"),
        (record("bill_of_exchange", facts={"drawee": "us"}), "stays_trade_payable"),
        (record("supplier_credit_note", facts={"credit_for": "our_debit_note"}), "already_booked"),
    ],
)
def test_nothing_to_post_is_no_refusal(nothing: Json, reason: str, book_it: BookIt) -> None:
    outputs = book_it(nothing)
    assert (outputs["status"], outputs["reason"], outputs["n_entries"]) == ("nothing_to_post", reason, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"colour": "red"},
        {"amounts": {"net": "1,000.00"}},
        {"amounts": {"net": "$1,420"}},
        {"amounts": {"net": 1000.0}},
        {"amounts": {"net": "NaN"}},
        {"amounts": {"net": ""}},
        {"date": "04.03.2026"},
        {"date": 20260304},
        {"lines": [{"account": "6110", "side": "left", "amount": "1.00"}]},
    ],
)
def test_a_structure_that_is_none_is_an_error_of_the_caller(changes: Json, book_it: BookIt) -> None:
    with pytest.raises(ValidationError):
        book_it({**purchase(), **changes})


def test_what_the_ledger_cannot_store_at_all_is_an_error_and_no_answer(book_it: BookIt) -> None:
    with pytest.raises(LedgerRefusal, match="malformed_text"):
        book_it(purchase(text="rent\x00March"))


def test_a_book_other_than_the_one_described_is_an_error(book_it: BookIt, open_book: Callable[..., Book]) -> None:
    with pytest.raises(ValueError, match="Larch Trading Ltd in USD"):
        book_it(purchase(), in_book=open_book(), currency="USD")


def test_a_history_that_cannot_be_is_an_error_that_names_its_record(book_it: BookIt) -> None:
    with pytest.raises(HistoryError, match=r"history\[1\] is refused: duplicate"):
        book_it(sale(), history=[purchase(), purchase()])


def test_a_ledger_that_is_gone_is_an_error_and_no_answer(graph: Any, reachable_home: Path) -> None:
    with embedded(reachable_home) as server:
        ledger = Ledger.connect(server.url, pool_size=1)
        ledger.migrate()
        book = ledger.create_book(book_spec(LARCH, chain="larch"))
    with ledger, pytest.raises(LedgerUnavailable):
        graph.invoke({"book": LARCH, "record": purchase()}, context=BookkeeperContext(book))


def test_one_graph_serves_many_books(book_it: BookIt, open_book: Callable[..., Book]) -> None:
    one, other = open_book(), open_book()
    graph = build_graph()
    for book in (one, other, one):
        graph.invoke({"book": LARCH, "record": purchase()}, context=BookkeeperContext(book))
    assert (len(one.entries()), len(other.entries())) == (1, 1)
