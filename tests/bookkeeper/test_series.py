"""Variants for two rates, layers or cheques take as many as the document has."""

from tests.bookkeeper.conftest import BookIt
from tests.bookkeeper.records import lines_of, record


def test_a_third_rate_repeats_the_pattern(book_it: BookIt) -> None:
    amounts = {"net_a": "33.35", "rate_a": "19", "net_b": "12.49", "rate_b": "7", "net_c": "10.00", "rate_c": "0"}
    categories = {"revenue_a": "goods", "revenue_b": "services", "revenue_c": "other"}
    invoice = record("sales_invoice", amounts=amounts, facts={"tax": "several_rates"}, categories=categories)
    assert lines_of(book_it(invoice)) == [
        "1110 D 63.05",
        "4010 C 33.35",
        "4020 C 12.49",
        "4060 C 10.00",
        "2210 C 7.21",
    ]


def test_four_rates_stay_in_their_order(book_it: BookIt) -> None:
    amounts = {f"net_{mark}": f"{n}00.00" for n, mark in enumerate("abcd", 1)}
    rates = {"rate_a": "20", "rate_b": "10", "rate_c": "5.5", "rate_d": "2.1"}  # 20.00, 20.00, 16.50, 8.40
    categories = {"expense_a": "rent", "expense_b": "travel", "expense_c": "office", "expense_d": "fuel"}
    invoice = record("supplier_invoice", amounts=amounts | rates, categories=categories)
    assert lines_of(book_it(invoice)) == [
        "6110 D 100.00",
        "6150 D 200.00",
        "6160 D 300.00",
        "6150 D 400.00",
        "1410 D 64.90",
        "2010 C 1064.90",
    ]


def test_a_third_rate_of_the_till(book_it: BookIt) -> None:
    amounts = {
        "gross_a": "119.00",
        "rate_a": "19",
        "gross_b": "107.00",
        "rate_b": "7",
        "gross_c": "50.00",
        "rate_c": "0",
        "cash_counted": "276.00",
        "cards": "0.00",
    }
    assert lines_of(book_it(record("till_closing_report", amounts=amounts))) == [
        "1010 D 276.00",
        "4010 C 100.00",
        "4010 C 100.00",
        "4010 C 50.00",
        "2210 C 26.00",
    ]


def test_a_third_layer_and_a_third_cheque(book_it: BookIt) -> None:
    layers = {"q1": "60", "c1": "7.40", "q2": "40", "c2": "7.60", "q3": "1", "c3": "0.005"}
    issue = record("goods_issue_note", amounts=layers, facts={"purpose": "sale", "costing": "layers"})
    assert lines_of(book_it(issue)) == ["5010 D 748.01", "1230 C 748.01"]
    cheques = {"cheque_a": "300.00", "cheque_b": "125.75", "cheque_c": "10.00"}
    slip = record("cheque_deposit_slip", amounts=cheques, facts={"booked_before": "no"})
    assert lines_of(book_it(slip)) == ["1040 D 435.75", "1110 C 300.00", "1110 C 125.75", "1110 C 10.00"]


def test_a_third_rate_that_is_half_there_is_incomplete(book_it: BookIt) -> None:
    amounts = {"net_a": "1.00", "rate_a": "19", "net_b": "1.00", "rate_b": "7", "net_c": "10.00"}
    outputs = book_it(record("sales_invoice", amounts=amounts, facts={"tax": "several_rates"}))
    assert (outputs["status"], outputs["reason"]) == ("refused", "missing_input")


def test_goods_and_services_at_one_rate_are_one_line_each(book_it: BookIt) -> None:
    # VAT once on the taxable sum: 0.10 + 0.13 at 19 % is 0.04 (0.0437), by line it would be 0.02 + 0.02
    amounts = {"net_a": "0.10", "net_b": "0.13", "rate": "19"}
    categories = {"revenue_a": "goods", "revenue_b": "services"}
    invoice = record("sales_invoice", amounts=amounts, facts={"tax": "one_rate"}, categories=categories)
    assert lines_of(book_it(invoice)) == ["1110 D 0.27", "4010 C 0.10", "4020 C 0.13", "2210 C 0.04"]


def test_a_utility_bill_at_several_rates_has_a_cost_line_for_each(book_it: BookIt) -> None:
    # reduced rates on a utility bill: 100.00 at 20 %, 50.00 at 5 %
    amounts = {"net_a": "100.00", "rate_a": "20", "net_b": "50.00", "rate_b": "5"}
    stated = {"net": "150.00", "vat": "22.50", "gross": "172.50"}
    outputs = book_it(record("utility_bill", amounts=amounts, stated=stated))
    assert lines_of(outputs) == ["6120 D 100.00", "6120 D 50.00", "1410 D 22.50", "2010 C 172.50"]


def test_a_line_on_one_account_stays_one_line_at_several_rates(book_it: BookIt) -> None:
    amounts = {"net_a": "100.00", "rate_a": "20", "net_b": "50.00", "rate_b": "5"}
    outputs = book_it(record("rent_invoice", amounts=amounts, facts={"lease": "off_balance"}))
    assert lines_of(outputs) == ["6110 D 150.00", "1410 D 22.50", "2010 C 172.50"]


def test_the_vat_of_one_rate_may_be_stated_for_itself(book_it: BookIt) -> None:
    # 19 % of 33.35 is 6.34 (6.3365), stated 6.33; 7 % of 12.49 is 0.87
    amounts = {"net_a": "33.35", "rate_a": "19", "net_b": "12.49", "rate_b": "7"}
    bill = record("utility_bill", amounts=amounts, stated={"vat_a": "6.33", "gross": "53.04"})
    assert lines_of(book_it(bill)) == ["6120 D 33.35", "6120 D 12.49", "1410 D 7.20", "2010 C 53.04"]
