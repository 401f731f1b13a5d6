"""The kind of document gives the sign: paper that prints a credit as negative is not reversed twice."""

import pytest

from tests.bookkeeper.conftest import BookIt, Json
from tests.bookkeeper.records import lines_of, purchase, record, sale

CREDIT = ["4030 D 317.50", "2210 D 60.33", "1110 C 377.83"]


def credit_note(net: str, **stated: str) -> Json:
    amounts = {"net": net, "rate": "19"}
    return record("sales_credit_note", amounts=amounts, facts={"document": "credit_note"}, stated=stated)


@pytest.mark.parametrize(
    "note",
    [
        credit_note("317.50", vat="60.33", gross="377.83"),
        credit_note("-317.50", vat="-60.33", gross="-377.83"),
        credit_note("-317.50"),
    ],
)
def test_a_credit_note_is_the_same_printed_either_way(note: Json, book_it: BookIt) -> None:
    assert lines_of(book_it(note)) == CREDIT


def test_a_negative_invoice_is_a_credit_note(book_it: BookIt) -> None:
    outputs = book_it(sale("-317.50", "19", stated={"vat": "-60.33", "gross": "-377.83"}))
    assert outputs["rule"] == "sales_credit_note.negative_invoice"
    assert lines_of(outputs) == CREDIT


def test_a_negative_supplier_invoice_is_a_credit_from_the_supplier(book_it: BookIt) -> None:
    outputs = book_it(purchase("-60.00", "20"))
    assert outputs["rule"] == "supplier_credit_note.expense_credit"
    assert lines_of(outputs) == ["2010 D 72.00", "6110 C 60.00", "1410 C 12.00"]


def test_a_negative_invoice_at_two_rates_is_a_credit_at_two_rates(book_it: BookIt) -> None:
    amounts = {"net_a": "-100.00", "rate_a": "19", "net_b": "-50.00", "rate_b": "7"}
    stated = {"vat": "-22.50", "gross": "-172.50"}
    outputs = book_it(record("sales_invoice", amounts=amounts, stated=stated, facts={"tax": "several_rates"}))
    assert lines_of(outputs) == ["4030 D 150.00", "2210 D 22.50", "1110 C 172.50"]


def test_at_gross_zero_the_net_decides(book_it: BookIt) -> None:
    # a credit of 100.00 without VAT against a sale of 84.03 at 19 %: net -15.97, VAT 15.97, nothing to pay
    amounts = {"net_a": "-100.00", "rate_a": "0", "net_b": "84.03", "rate_b": "19"}
    invoice = record("sales_invoice", amounts=amounts, stated={"gross": "0.00"}, facts={"tax": "several_rates"})
    outputs = book_it(invoice)
    assert outputs["rule"] == "sales_credit_note.negative_invoice"
    assert lines_of(outputs) == ["4030 D 15.97", "2210 C 15.97"]


@pytest.mark.parametrize(
    "contradicting",
    [
        credit_note("100.00", gross="-122.00"),
        credit_note("-100.00", gross="119.00"),
        sale("100.00", "19", stated={"gross": "-119.00"}),
        sale("-100.00", "19", stated={"gross": "119.00"}),
        purchase("100.00", "19", stated={"vat": "19.00", "gross": "-119.00"}),
    ],
)
def test_totals_that_contradict_each_other_in_sign_are_refused(contradicting: Json, book_it: BookIt) -> None:
    outputs = book_it(contradicting)
    assert (outputs["status"], outputs["reason"]) == ("refused", "wrong_sign")


def test_a_single_line_of_an_invoice_may_be_negative(book_it: BookIt) -> None:
    # a deposit of 30.00 at 7 % given back: its VAT is -2.10, and its line swaps sides
    amounts = {"net_a": "100.00", "rate_a": "19", "net_b": "-30.00", "rate_b": "7"}
    outputs = book_it(record("sales_invoice", amounts=amounts, facts={"tax": "several_rates"}))
    assert lines_of(outputs) == ["1110 D 86.90", "4010 C 100.00", "4020 D 30.00", "2210 C 16.90"]


@pytest.mark.parametrize(
    "negative",
    [
        record("utility_bill", amounts={"net": "-10.00", "rate": "20"}),
        record("petty_cash_voucher", amounts={"net": "10.00", "rate": "-20"}),
        record("goods_issue_note", amounts={"qty": "-1", "unit_cost": "2"}, facts={"purpose": "own_use"}),
        record("payroll_tax_remittance", amounts={"amount": "-1.00"}),
    ],
)
def test_a_negative_input_is_refused(negative: Json, book_it: BookIt) -> None:
    assert book_it(negative)["reason"] == "wrong_sign"


def test_an_input_that_may_be_signed_swaps_the_sides(book_it: BookIt) -> None:
    refund = record("vat_return", amounts={"amount": "-80.00"}, facts={"event": "payment"})
    assert lines_of(book_it(refund)) == ["2240 C 80.00", "1040 D 80.00"]
