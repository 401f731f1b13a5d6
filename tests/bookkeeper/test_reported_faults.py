"""Faults that users of accounting software reported in public, by number, and the right value here."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from bookkeeping.agents.bookkeeper.record import Record
from bookkeeping.documents.numbers import read_number
from tests.bookkeeper.conftest import BookIt
from tests.bookkeeper.records import lines_of, purchase, record, sale
from tests.bookkeeper.test_vouchers import voucher


@pytest.mark.parametrize("written", ["$1,420", "1,420", "CHF 1'234'567.89", "1'234'567.89", "1.420,00"])
def test_B17_B20_an_amount_as_printed_is_never_taken_for_a_decimal(written: str) -> None:
    """A record states 1420 and 1234567.89; what still has its grouping is an error, not another amount."""
    with pytest.raises(ValidationError, match="decimal string"):
        Record.model_validate({"doc_type": "bank_statement", "amounts": {"amount": written}})
    read = Record.model_validate({"doc_type": "bank_statement", "amounts": {"amount": "1420", "fee": "1234567.89"}})
    assert read.amounts == {"amount": Decimal(1420), "fee": Decimal("1234567.89")}


@pytest.mark.parametrize(("written", "amount"), [("$1,420", "1420"), ("CHF 1'234'567.89", "1234567.89")])
def test_B17_B20_the_reader_of_documents_takes_groups_for_groups(written: str, amount: str) -> None:
    assert read_number(written) == Decimal(amount)


def test_B32_a_debit_that_is_negative_already_is_not_negated_again(book_it: BookIt) -> None:
    line = record("bank_statement", event="1", facts={"match": "none"}, amounts={"amount": "-70.55"})
    assert book_it(line)["balances"] == {"1040": "-70.55", "9010": "70.55"}


def test_B41_an_invoice_and_its_credit_note_cancel_at_half_a_cent(book_it: BookIt) -> None:
    invoice = book_it(sale("317.50", "19"))
    facts = {"document": "credit_note"}
    credit = book_it(record("sales_credit_note", amounts={"net": "-317.50", "rate": "19"}, facts=facts))
    assert (invoice["balances"]["2210"], credit["balances"]["2210"]) == ("-60.33", "60.33")
    assert (invoice["balances"]["1110"], credit["balances"]["1110"]) == ("377.83", "-377.83")


def test_B44_vat_is_the_same_in_the_header_and_by_category(book_it: BookIt) -> None:
    assert lines_of(book_it(sale("1091.50", "15"))) == ["1110 D 1255.23", "4010 C 1091.50", "2210 C 163.73"]


def test_B45_a_rate_of_three_decimals_is_not_rounded_before(book_it: BookIt) -> None:
    taxed = record("sales_invoice", amounts={"net": "8180.00", "rate": "9.975"}, facts={"tax": "sales_tax"})
    assert lines_of(book_it(taxed)) == ["1110 D 8995.96", "4010 C 8180.00", "2230 C 815.96"]


def test_B46_vat_rounded_line_by_line_is_booked_as_the_document_says(book_it: BookIt) -> None:
    stated = {"vat": "75.00", "gross": "374.97"}
    outputs = book_it(purchase("299.97", "25", amounts={"lines_count": "3"}, stated=stated))
    assert lines_of(outputs)[1:] == ["1410 D 75.00", "2010 C 374.97"]


def test_B47_the_missing_amount_of_an_entry_is_exact(book_it: BookIt) -> None:
    outputs = book_it(voucher("opening_balance_schedule", "1040 D 4.8", "1010 D 2.97"))
    assert outputs["balances"]["3050"] == "-7.77"


def test_B52_a_credit_note_with_positive_lines_is_a_credit_posted_once(book_it: BookIt) -> None:
    amounts = {"net": "50.00", "rate": "0"}
    note = record("sales_credit_note", amounts=amounts, facts={"document": "credit_note"}, stated={"gross": "50.00"})
    assert lines_of(book_it(note)) == ["4030 D 50.00", "1110 C 50.00"]


def test_B57_the_gross_of_46_lines_is_the_one_that_the_issuer_states(book_it: BookIt) -> None:
    stated = {"net": "146.57", "vat": "29.31", "gross": "175.88"}
    outputs = book_it(purchase("146.57", "20", amounts={"lines_count": "46"}, stated=stated))
    assert outputs["balances"]["2010"] == "-175.88"


def test_B60_a_currency_without_decimals_has_no_factor_of_a_hundred(book_it: BookIt) -> None:
    outputs = book_it(record("payroll_tax_remittance", amounts={"amount": "100"}), currency="JPY")
    assert lines_of(outputs) == ["2260 D 100", "1040 C 100"]


def test_B62_yen_are_rounded_to_whole_yen(book_it: BookIt) -> None:
    assert lines_of(book_it(sale("1127", "10"), currency="JPY")) == ["1110 D 1240", "4010 C 1127", "2210 C 113"]


def test_B70_a_supplier_who_refunds_at_a_higher_rate_leaves_us_a_gain(book_it: BookIt) -> None:
    amounts = {"fc": "100.00", "fx_inv": "90", "fx_pay": "100"}
    refund = record("bank_statement", event="1", facts={"match": "supplier_refund"}, amounts=amounts)
    assert lines_of(book_it(refund, currency="INR")) == ["1040 D 10000.00", "2010 C 9000.00", "7030 C 1000.00"]


def test_B71_a_payable_settled_at_a_higher_rate_is_a_loss(book_it: BookIt) -> None:
    amounts = {"fc": "400.00", "fx_inv": "83", "fx_pay": "85"}
    facts = {"match": "supplier", "settlement": "full_or_part"}
    payment = record("bank_statement", event="1", facts=facts, amounts=amounts)
    assert lines_of(book_it(payment, currency="INR")) == ["2010 D 33200.00", "7040 D 800.00", "1040 C 34000.00"]


def test_B85_digits_that_a_binary_float_would_lose_are_kept(book_it: BookIt) -> None:
    # 1560704964.3310470 * 1000 is exactly 1560704964331.047; as a double of the stored form it ended in .050
    moved = {"qty": "1000", "unit_cost": "1560704964.3310470"}
    outputs = book_it(record("sales_return_receipt", amounts=moved), currency="KWD")
    assert lines_of(outputs) == ["1230 D 1560704964331.047", "5010 C 1560704964331.047"]
