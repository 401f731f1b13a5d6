"""What a record calls for on top of a variant, alone and together."""

import pytest

from tests.bookkeeper.conftest import BookIt
from tests.bookkeeper.records import lines_of, purchase, record, sale


@pytest.mark.parametrize(
    ("rule", "keys"),
    [
        ("vat_partly_blocked", {"amounts": {"deductible": "50"}}),
        ("multi_period", {"service_period_end": "2027-02-28"}),
        ("deduct_prepayment", {"amounts": {"adv_net": "500.00", "adv_vat": "100.00"}}),
        ("with_payable_rounding", {"amounts": {"payable": "1200.05"}}),
    ],
)
def test_a_plain_purchase_finds_the_variant_that_does_the_same(rule: str, keys: dict, book_it: BookIt) -> None:
    assert book_it(purchase(**keys))["rule"] == f"supplier_invoice.{rule}"


def test_blocked_tax_is_cost_of_its_own_rate(book_it: BookIt) -> None:
    # 30 % of 15.97 and of 3.27 are blocked: 4.79 and the rest of 19.24 - 13.47 = 5.77, which is 0.98
    amounts = {"net_a": "84.03", "rate_a": "19", "net_b": "46.73", "rate_b": "7", "deductible": "70"}
    outputs = book_it(record("supplier_invoice", amounts=amounts))
    assert lines_of(outputs) == ["6250 D 88.82", "6160 D 47.71", "1410 D 13.47", "2010 C 150.00"]


def test_the_deductible_part_of_each_rate_is_what_is_rounded(book_it: BookIt) -> None:
    # 7 % of 300.10 is 21.01 and half of it 10.51 (10.505): 10.50 is left; 19 % of 80.50 is 15.30: 7.65 is left
    amounts = {"net_a": "300.10", "rate_a": "7", "net_b": "80.50", "rate_b": "19", "deductible": "50"}
    outputs = book_it(record("supplier_invoice", amounts=amounts))
    assert lines_of(outputs) == ["6250 D 310.60", "6160 D 88.15", "1410 D 18.16", "2010 C 416.91"]
    assert lines_of(book_it(record("utility_bill", amounts=amounts))) == [
        "6120 D 310.60",
        "6120 D 88.15",
        "1410 D 18.16",
        "2010 C 416.91",
    ]


def test_cost_lines_of_one_rate_bear_blocked_tax_by_their_amounts(book_it: BookIt) -> None:
    # 20 % of 150.00 is 30.00, half of it cost: two thirds of 15.00 for the meals, a third for the office
    amounts = {"net_a": "100.00", "net_b": "50.00", "rate": "20", "deductible": "50"}
    categories = {"expense_a": "meals", "expense_b": "office"}
    outputs = book_it(record("supplier_invoice", amounts=amounts, categories=categories))
    assert lines_of(outputs) == ["6150 D 110.00", "6160 D 55.00", "1410 D 15.00", "2010 C 180.00"]


def test_goods_of_one_rate_bear_blocked_tax_by_their_amounts_too(book_it: BookIt) -> None:
    # VAT 10.01, half of it 5.01 (5.005), 5.00 blocked: 1.00 (0.998) on 9.99 of 50.03, the rest on 40.04
    amounts = {"net_a": "9.99", "net_b": "40.04", "rate": "20", "deductible": "50"}
    categories = {"expense": "goods", "expense_a": "goods", "expense_b": "materials"}
    outputs = book_it(record("supplier_invoice", amounts=amounts, categories=categories))
    assert lines_of(outputs) == ["1230 D 10.99", "1210 D 44.04", "1410 D 5.01", "2010 C 60.04"]


def test_blocked_tax_of_a_credit_note_lowers_the_cost(book_it: BookIt) -> None:
    facts = {"credit_for": "cost_or_price", "reverse_charge": "no"}
    amounts = {"net": "60.00", "rate": "20", "deductible": "50"}
    outputs = book_it(record("supplier_credit_note", amounts=amounts, facts=facts, categories={"origin": "6150"}))
    assert lines_of(outputs) == ["2010 D 72.00", "6150 C 66.00", "1410 C 6.00"]


def test_nothing_deductible_leaves_the_input_tax_out(book_it: BookIt) -> None:
    amounts = {"net": "318.44", "rate": "20", "deductible": "0"}
    outputs = book_it(record("utility_bill", amounts=amounts))
    assert lines_of(outputs) == ["6120 D 382.13", "2010 C 382.13"]


def test_rent_for_later_months_is_prepaid(book_it: BookIt) -> None:
    rent = record("rent_invoice", amounts={"net": "2200.00", "rate": "20"}, facts={"lease": "off_balance"})
    assert lines_of(book_it({**rent, "service_period_end": "2026-04-30"}))[0] == "1310 D 2200.00"
    assert lines_of(book_it({**rent, "service_period_end": "2026-03-31"}))[0] == "6110 D 2200.00"


def test_revenue_for_later_months_is_deferred(book_it: BookIt) -> None:
    outputs = book_it(sale("1200.00", service_period_end="2027-02-28"))
    assert lines_of(outputs) == ["1110 D 1440.00", "2120 C 1200.00", "2210 C 240.00"]


def test_stock_and_assets_are_not_deferred(book_it: BookIt) -> None:
    for category, account in (("goods", "1230"), ("asset", "1510")):
        invoice = purchase("4800.00", categories={"expense": category}, service_period_end="2027-02-28")
        assert lines_of(book_it(invoice))[0] == f"{account} D 4800.00"


def test_an_advance_is_set_off_before_the_payable(book_it: BookIt) -> None:
    amounts = {"adv_net": "500.00", "adv_vat": "100.00"}
    outputs = book_it(purchase("2000.00", categories={"expense": "goods"}, amounts=amounts))
    assert outputs["rule"] == "supplier_invoice.goods_without_receipt"
    assert lines_of(outputs) == ["1230 D 2000.00", "1410 D 300.00", "1320 C 500.00", "2010 C 1800.00"]


def test_an_advance_without_its_vat_is_incomplete(book_it: BookIt) -> None:
    assert (
        book_it(purchase(categories={"expense": "goods"}, amounts={"adv_net": "500.00"}))["reason"] == "missing_input"
    )


def test_coin_rounding_is_before_the_advance_that_was_paid(book_it: BookIt) -> None:
    # gross 2400.02 is rounded to 2400.00; 600.00 were paid in advance
    amounts = {"adv_net": "500.00", "adv_vat": "100.00", "payable": "2400.00"}
    outputs = book_it(purchase("2000.02", categories={"expense": "goods"}, amounts=amounts))
    assert lines_of(outputs) == [
        "1230 D 2000.02",
        "1410 D 300.00",
        "1320 C 500.00",
        "2010 C 1800.00",
        "7080 C 0.02",
    ]


def test_coin_rounding_of_a_sale_goes_the_other_way(book_it: BookIt) -> None:
    amounts = {"net_a": "33.35", "rate_a": "19", "net_b": "12.49", "rate_b": "7", "payable": "53.10"}
    outputs = book_it(record("sales_invoice", amounts=amounts, facts={"tax": "several_rates"}))
    assert lines_of(outputs) == ["1110 D 53.10", "4010 C 33.35", "4020 C 12.49", "2210 C 7.21", "7080 C 0.05"]


def test_a_payable_that_no_coin_explains_is_refused(book_it: BookIt) -> None:
    assert book_it(purchase(amounts={"payable": "1200.51"}))["reason"] == "out_of_tolerance"
    assert (
        book_it(purchase(categories={"expense": "goods"}, amounts={"payable": "1199.49"}))["reason"]
        == "out_of_tolerance"
    )
    assert book_it(purchase(amounts={"payable": "1200.50"}))["status"] == "posted"


def test_a_book_may_set_its_own_limit(book_it: BookIt) -> None:
    parameters = {"cash_rounding_max": "0.02"}
    assert book_it(purchase(amounts={"payable": "1200.03"}), parameters=parameters)["reason"] == "out_of_tolerance"


def test_the_limit_of_coin_rounding_is_in_book_currency(book_it: BookIt) -> None:
    # 0.60 at 0.5 is 0.30 in the book, 0.30 at 2 is 0.60
    within = {"payable": "1200.60", "fx": "0.5"}
    outputs = book_it(purchase(categories={"expense": "goods"}, currency="USD", amounts=within))
    assert lines_of(outputs) == ["1230 D 500.00", "1410 D 100.00", "2010 C 600.30", "7080 D 0.30"]
    beyond = {"payable": "1200.30", "fx": "2"}
    outputs = book_it(purchase(categories={"expense": "goods"}, currency="USD", amounts=beyond))
    assert outputs["reason"] == "out_of_tolerance"


def test_all_modifiers_go_together(book_it: BookIt) -> None:
    # telecom for 2026-03 to 2027-02, half deductible, advance of 100.00 + 20.00 set off, payable rounded to 1200.05
    amounts = {"deductible": "50", "adv_net": "100.00", "adv_vat": "20.00", "payable": "1200.05"}
    invoice = purchase(categories={"expense": "telecom"}, amounts=amounts, service_period_end="2027-02-28")
    assert lines_of(book_it(invoice)) == [
        "1310 D 1100.00",
        "1410 D 80.00",
        "1320 C 100.00",
        "2010 C 1080.05",
        "7080 D 0.05",
    ]


def test_below_the_threshold_an_asset_is_an_office_cost(book_it: BookIt) -> None:
    below = book_it(purchase("999.99", categories={"expense": "asset"}))
    assert (below["rule"], lines_of(below)[0]) == ("supplier_invoice.expense", "6160 D 999.99")
    at = book_it(purchase("1000.00", categories={"expense": "asset"}))
    assert (at["rule"], lines_of(at)[0]) == ("supplier_invoice.fixed_asset", "1510 D 1000.00")


def test_the_threshold_of_a_yen_book_is_in_yen(book_it: BookIt) -> None:
    outputs = book_it(purchase("99999", "10", categories={"expense": "asset"}), currency="JPY")
    assert lines_of(outputs) == ["6160 D 99999", "1410 D 10000", "2010 C 109999"]
