"""Which account a line goes to."""

import pytest

from bookkeeping.agents.bookkeeper.rulebook import rulebook
from tests.bookkeeper.conftest import BookIt, Json
from tests.bookkeeper.records import lines_of, purchase, record, sale


@pytest.mark.parametrize(("key", "account"), sorted(rulebook().general.maps["money"].items()))
def test_money_goes_to_the_account_of_the_means_of_payment(key: str, account: str, book_it: BookIt) -> None:
    receipt = record("expense_receipt", amounts={"gross": "9.00"}, facts={"vat_details": "none"})
    assert lines_of(book_it({**receipt, "categories": {"money": key}})) == ["6160 D 9.00", f"{account} C 9.00"]


def test_a_bank_statement_may_name_its_account(book_it: BookIt) -> None:
    receipt = record("payment_receipt", amounts={"amount": "60.00"}, categories={"money": "1050"})
    assert lines_of(book_it(receipt)) == ["1050 D 60.00", "1110 C 60.00"]


def test_a_cost_without_a_known_category_goes_to_the_default(book_it: BookIt) -> None:
    assert lines_of(book_it(purchase(categories={"expense": "stargazing"})))[0] == "6250 D 1000.00"
    assert lines_of(book_it(purchase(categories={})))[0] == "6250 D 1000.00"
    assert lines_of(book_it(sale(categories={"revenue": "stargazing"})))[1] == "4010 C 1000.00"


@pytest.mark.parametrize(
    ("expense", "account", "variant"),
    [
        ("meals", "6150", "expense"),
        ("freight", "5030", "expense"),
        ("goods", "1230", "goods_without_receipt"),
        ("materials", "1210", "goods_without_receipt"),
        ("received_goods", "2020", "goods_without_receipt"),
        ("asset", "1510", "fixed_asset"),
        ("construction", "1550", "fixed_asset"),
    ],
)
def test_the_category_leads_to_account_and_treatment(expense: str, account: str, variant: str, book_it: BookIt) -> None:
    outputs = book_it(purchase("2000.00", categories={"expense": expense}))
    assert (outputs["rule"], lines_of(outputs)[0]) == (f"supplier_invoice.{variant}", f"{account} D 2000.00")


def test_lines_at_rates_of_their_own_have_categories_of_their_own(book_it: BookIt) -> None:
    amounts = {"net_a": "100.00", "rate_a": "20", "net_b": "50.00", "rate_b": "10"}
    categories = {"expense_a": "travel", "expense_b": "insurance"}
    assert lines_of(book_it(record("supplier_invoice", amounts=amounts, categories=categories)))[:2] == [
        "6150 D 100.00",
        "6130 D 50.00",
    ]


def test_sales_tax_goes_to_its_own_account(book_it: BookIt) -> None:
    prepaid = record(
        "prepayment_invoice", amounts={"net": "100.00", "rate": "8"}, categories={"output_tax": "sales_tax"}
    )
    assert lines_of(book_it(prepaid)) == ["1110 D 108.00", "2110 C 100.00", "2230 C 8.00"]


@pytest.mark.parametrize(("paid", "fx"), [("0.9260", "7040 D 45.00"), ("0.9170", "7030 C 45.00")])
def test_an_exchange_difference_is_a_loss_or_a_gain_by_its_side(paid: str, fx: str, book_it: BookIt) -> None:
    amounts = {"fc": "10000.00", "fx_deal": paid, "fx_book": "0.9215"}
    assert fx in lines_of(book_it(record("fx_deal_confirmation", amounts=amounts, facts={"direction": "buy"})))


@pytest.mark.parametrize(
    ("categories", "account"),
    [
        ({}, "6250"),
        ({"origin": "6140"}, "6140"),
        ({"expense": "rent"}, "6110"),
        ({"origin": "1230", "expense": "rent"}, "1230"),
    ],
)
def test_a_credit_goes_back_to_the_account_of_the_line_credited(
    categories: Json, account: str, book_it: BookIt
) -> None:
    facts = {"credit_for": "cost_or_price", "reverse_charge": "no"}
    credit = record("supplier_credit_note", amounts={"net": "60.00", "rate": "20"}, facts=facts, categories=categories)
    assert lines_of(book_it(credit)) == ["2010 D 72.00", f"{account} C 60.00", "1410 C 12.00"]


def test_a_correction_reverses_the_accounts_of_the_original(book_it: BookIt) -> None:
    amounts = {"old_net": "500.00", "old_vat": "100.00", "old_gross": "600.00"}
    amounts |= {"new_net": "480.00", "new_vat": "96.00", "new_gross": "576.00"}
    facts = {"direction": "issued", "correction": "replacement"}
    categories = {"origin": "4020", "revenue": "services"}
    outputs = book_it(record("corrected_invoice", amounts=amounts, facts=facts, categories=categories))
    assert lines_of(outputs)[:2] == ["4020 D 500.00", "2210 D 100.00"]
    assert lines_of(outputs)[4] == "4020 C 480.00"


def test_a_correction_that_adds_is_an_invoice_of_the_supplier(book_it: BookIt) -> None:
    facts = {"direction": "received", "correction": "increase"}
    more = record(
        "corrected_invoice", amounts={"net": "50.00", "rate": "20"}, facts=facts, categories={"expense": "rent"}
    )
    outputs = book_it(more)
    assert outputs["rule"] == "supplier_invoice.expense"
    assert lines_of(outputs) == ["6110 D 50.00", "1410 D 10.00", "2010 C 60.00"]
