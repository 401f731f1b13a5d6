"""The same document is posted once, and so is a movement of money that two documents describe."""

import pytest

from tests.bookkeeper.conftest import BookIt, Json
from tests.bookkeeper.records import lines_of, purchase, record, sale


def statement_line(line: str = "1", **keys: object) -> Json:
    amounts = {"amount": "37.90"}
    return record("bank_statement", number="2026-03", event=line, facts={"match": "fee"}, amounts=amounts, **keys)


def charges(**keys: object) -> Json:
    return record("bank_charges_note", number="C-7", amounts={"amount": "37.90"}, **keys)


@pytest.mark.parametrize(
    "again",
    [
        {},
        {"doc_type": "utility_bill"},
        {"issuer": "  BIRCH  &  CO "},
        {"text": "another reading of it", "amounts": {"net": "1000.01", "rate": "20"}},
    ],
)
def test_the_same_document_is_posted_once(again: Json, book_it: BookIt) -> None:
    outputs = book_it({**purchase(), **again}, history=[purchase()])
    assert (outputs["status"], outputs["reason"], outputs["n_entries"]) == ("refused", "duplicate", 0)


@pytest.mark.parametrize(
    "other",
    [
        {"issuer": "Alder & Co"},
        {"issuer_tax_number": "DE123456789"},
        {"number": "D-2"},
        {"date": "2026-03-05"},
        {"event": "second stage"},
    ],
)
def test_another_document_is_posted(other: Json, book_it: BookIt) -> None:
    assert book_it({**purchase(), **other}, history=[purchase()])["status"] == "posted"


def test_a_credit_note_with_the_number_of_an_invoice_is_another_document(book_it: BookIt) -> None:
    facts = {"credit_for": "cost_or_price", "reverse_charge": "no"}
    credit = record("supplier_credit_note", amounts={"net": "60.00", "rate": "20"}, facts=facts)
    assert book_it(credit, history=[purchase()])["status"] == "posted"


def test_our_own_invoice_with_the_number_of_a_suppliers_is_another_document(book_it: BookIt) -> None:
    assert book_it(sale(), history=[purchase()])["status"] == "posted"


def test_the_same_name_in_another_unicode_form_is_the_same_issuer(book_it: BookIt) -> None:
    decomposed = purchase(issuer="Cafe\u0301 Linde")
    assert book_it(purchase(issuer="Café Linde"), history=[decomposed])["reason"] == "duplicate"


def test_stages_of_a_document_are_told_apart(book_it: BookIt) -> None:
    filed = {"output": "100.00", "input": "40.00", "rc": "0.00", "rc_in": "0.00"}
    filing = record("vat_return", amounts=filed, facts={"event": "filing", "filed_in": "cents"})
    payment = record("vat_return", amounts={"amount": "60.00"}, facts={"event": "payment"})
    assert book_it(payment, history=[filing])["status"] == "posted"
    assert book_it(payment, history=[filing, payment])["reason"] == "duplicate"


def test_without_a_number_the_content_tells_documents_apart(book_it: BookIt) -> None:
    receipt = record("petty_cash_voucher", number=None, amounts={"net": "10.00", "rate": "20"})
    other = {**receipt, "amounts": {"net": "10.00", "rate": "10"}}
    assert book_it(other, history=[receipt])["status"] == "posted"
    assert book_it(receipt, history=[receipt])["reason"] == "duplicate"


def test_two_equal_lines_of_a_statement_are_two_movements(book_it: BookIt) -> None:
    assert book_it(statement_line("2"), history=[statement_line("1")])["status"] == "posted"
    assert book_it(statement_line("1"), history=[statement_line("1")])["reason"] == "duplicate"


def test_a_line_of_another_account_is_another_movement(book_it: BookIt) -> None:
    foreign = statement_line("1", categories={"money": "bank_foreign"})
    assert book_it(foreign, history=[statement_line("1")])["status"] == "posted"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (charges(movement="M-1"), statement_line(movement="M-1")),
        (statement_line(movement="M-1"), charges(movement="M-1")),
    ],
)
def test_whichever_comes_second_posts_nothing(first: Json, second: Json, book_it: BookIt) -> None:
    outputs = book_it(second, history=[first])
    assert (outputs["status"], outputs["reason"]) == ("nothing_to_post", "already_booked")
    assert (outputs["n_entries"], outputs["lines"], outputs["balances"]) == (0, [], {})


def test_the_same_movement_read_twice_from_the_statement_is_a_duplicate(book_it: BookIt) -> None:
    assert book_it(statement_line(movement="M-1"), history=[statement_line(movement="M-1")])["reason"] == "duplicate"


def test_amounts_that_agree_by_chance_are_not_one_event(book_it: BookIt) -> None:
    assert book_it(charges(movement="M-2"), history=[statement_line(movement="M-1")])["status"] == "posted"


def test_evidence_for_a_booked_document_posts_nothing(book_it: BookIt) -> None:
    amounts = {"fee": "85.00", "fee_vat": "17.00", "import_vat": "412.40", "duty": "96.20"}
    forwarder = record("forwarder_invoice", number="F-9", amounts=amounts, facts={"declaration": "posted"})
    receipt = record("customs_duty_receipt", number="Z-1", amounts={"amount": "508.60"}, evidence_for="F-9")
    outputs = book_it(receipt, history=[forwarder])
    assert (outputs["status"], outputs["reason"]) == ("nothing_to_post", "already_booked")
    assert lines_of(book_it(receipt)) == ["2370 D 508.60", "1040 C 508.60"]


def test_a_statement_line_that_the_matching_found_booked_posts_nothing(book_it: BookIt) -> None:
    line = record("bank_statement", number="2026-03", event="1", facts={"match": "ledger_entry"})
    assert book_it(line)["reason"] == "already_booked"
