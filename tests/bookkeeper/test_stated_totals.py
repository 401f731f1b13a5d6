"""What a document states is booked and compared with what the rule computes (general.vat)."""

from typing import Any

import pytest

from tests.bookkeeper.conftest import BookIt
from tests.bookkeeper.records import lines_of, purchase, record, sale


def test_vat_that_is_stated_as_calculated_changes_nothing(book_it: BookIt) -> None:
    outputs = book_it(purchase("1000.00", "19", stated={"net": "1000.00", "vat": "190.00", "gross": "1190.00"}))
    assert outputs["rule"] == "supplier_invoice.expense"
    assert lines_of(outputs) == ["6110 D 1000.00", "1410 D 190.00", "2010 C 1190.00"]


def test_stated_vat_is_booked_while_it_is_off_by_a_unit_for_each_line(book_it: BookIt) -> None:
    # 3 x 99.99 at 25 %: 75.00 by line, 74.99 on the sum
    stated = {"vat": "75.00", "gross": "374.97"}
    outputs = book_it(purchase("299.97", "25", amounts={"lines_count": "3"}, stated=stated))
    assert outputs["rule"] == "supplier_invoice.vat_rounding_difference"
    assert lines_of(outputs) == ["6110 D 299.97", "1410 D 75.00", "2010 C 374.97"]


def test_stated_vat_of_a_sale_is_booked_within_the_tolerance(book_it: BookIt) -> None:
    outputs = book_it(sale("299.97", "25", stated={"vat": "75.00", "gross": "374.97"}))
    assert lines_of(outputs) == ["1110 D 374.97", "4010 C 299.97", "2210 C 75.00"]


@pytest.mark.parametrize("make", [purchase, sale])
def test_stated_vat_beyond_the_tolerance_is_refused(make: Any, book_it: BookIt) -> None:
    # 19 % of 412.83 is 78.44 (78.4377); one line allows 78.43 to 78.45
    assert book_it(make("412.83", "19", stated={"vat": "78.45"}))["status"] == "posted"
    outputs = book_it(make("412.83", "19", stated={"vat": "78.46"}))
    assert (outputs["status"], outputs["reason"]) == ("refused", "vat_mismatch")
    assert (outputs["n_entries"], outputs["n_lines"], outputs["lines"]) == (0, 0, [])


def test_each_of_two_rates_widens_the_tolerance_by_a_line(book_it: BookIt) -> None:
    # 84.03 at 19 % is 15.97, 46.73 at 7 % is 3.27: together 19.24
    amounts = {"net_a": "84.03", "rate_a": "19", "net_b": "46.73", "rate_b": "7"}
    within = record("supplier_invoice", amounts=amounts, stated={"vat": "19.26", "gross": "150.02"})
    assert lines_of(book_it(within)) == ["6250 D 84.03", "6160 D 46.73", "1410 D 19.26", "2010 C 150.02"]
    beyond = record("supplier_invoice", amounts=amounts, stated={"vat": "19.27", "gross": "150.03"})
    assert book_it(beyond)["reason"] == "vat_mismatch"


def test_totals_that_contradict_each_other_are_refused_to_the_last_cent(book_it: BookIt) -> None:
    for make in (purchase, sale):
        outputs = book_it(make("1000.00", "19", stated={"vat": "190.00", "gross": "1190.01"}))
        assert (outputs["status"], outputs["reason"]) == ("refused", "unbalanced")


def test_a_gross_that_is_off_by_little_is_owed_and_the_difference_is_rounding(book_it: BookIt) -> None:
    # the document prints no VAT: 146.57 at 20 % is 29.31, and it asks for 175.90 instead of 175.88
    outputs = book_it(purchase("146.57", "20", amounts={"lines_count": "46"}, stated={"gross": "175.90"}))
    assert lines_of(outputs) == ["6110 D 146.57", "1410 D 29.31", "2010 C 175.90", "7080 D 0.02"]
    sold = book_it(sale("146.57", "20", amounts={"lines_count": "46"}, stated={"gross": "175.90"}))
    assert lines_of(sold) == ["1110 D 175.90", "4010 C 146.57", "2210 C 29.31", "7080 C 0.02"]


def test_a_gross_that_is_off_by_more_is_refused(book_it: BookIt) -> None:
    outputs = book_it(purchase("146.57", "20", stated={"gross": "175.90"}))
    assert (outputs["status"], outputs["reason"]) == ("refused", "unbalanced")


def test_a_stated_net_must_be_the_one_that_is_booked(book_it: BookIt) -> None:
    assert book_it(purchase("1000.00", "19", stated={"net": "999.99"}))["reason"] == "unbalanced"


def test_an_invoice_with_reverse_charge_states_no_vat(book_it: BookIt) -> None:
    facts = {"currency": "book", "deductible_share": "full"}
    amounts = {"net": "1000.00", "rate": "20"}
    without = record("reverse_charge_invoice", amounts=amounts, facts=facts, stated={"vat": "0.00", "gross": "1000.00"})
    assert lines_of(book_it(without)) == ["6140 D 1000.00", "1420 D 200.00", "2220 C 200.00", "2010 C 1000.00"]
    charged = {**without, "stated": {"vat": "200.00", "gross": "1200.00"}}
    assert book_it(charged)["reason"] == "unbalanced"


def test_withheld_tax_that_the_document_states_wins(book_it: BookIt) -> None:
    amounts = {"net": "1000.00", "rate": "22", "wht_base": "1000.00", "wht_rate": "20"}
    fee = record("withholding_fee_invoice", amounts=amounts, facts={"withholding_point": "invoice"})
    stated = {"wht": "199.50", "gross": "1220.00", "payable": "1020.50"}
    assert lines_of(book_it({**fee, "stated": stated})) == [
        "6140 D 1000.00",
        "1410 D 220.00",
        "2250 C 199.50",
        "2010 C 1020.50",
    ]
    assert book_it({**fee, "stated": {"payable": "1020.50"}})["reason"] == "unbalanced"


def test_a_schedule_that_states_the_amount_is_booked_as_stated(book_it: BookIt) -> None:
    amounts = {"cost": "3407.08", "residual": "0.00", "months": "36", "month_no": "1"}
    schedule = record("depreciation_schedule", amounts=amounts, stated={"amount": "120.00"})
    assert lines_of(book_it(schedule)) == ["6210 D 120.00", "1590 C 120.00"]


def test_the_parts_of_a_loan_instalment_must_add_up(book_it: BookIt) -> None:
    amounts = {"payment": "2150.00", "interest": "416.67", "fee": "5.00"}
    assert book_it(record("loan_statement", amounts=amounts, stated={"principal": "1728.33"}))["status"] == "posted"
    assert book_it(record("loan_statement", amounts=amounts, stated={"principal": "1728.34"}))["reason"] == "unbalanced"


def test_metered_net_is_booked_as_stated_within_a_unit(book_it: BookIt) -> None:
    amounts = {"usage": "412", "price": "0.2837", "standing": "11.25", "rate": "20"}  # 116.88 + 11.25 = 128.13
    bill = record("metered_services_invoice", amounts=amounts)
    assert lines_of(book_it({**bill, "stated": {"net": "128.14"}})) == [
        "1110 D 153.77",
        "4020 C 128.14",
        "2210 C 25.63",
    ]
    assert book_it({**bill, "stated": {"net": "128.15"}})["reason"] == "out_of_tolerance"


def test_a_total_that_nothing_computes_is_for_a_person(book_it: BookIt) -> None:
    outputs = book_it(purchase(stated={"deposit": "10.00"}))
    assert (outputs["status"], outputs["reason"]) == ("refused", "unsupported_combination")


FORINT: dict[str, Any] = {"currency": "HUF"}


@pytest.mark.parametrize(
    ("make", "lines"),
    [
        (purchase, ["6110 D 69180.00", "1410 D 18679.00", "2010 C 87859.00"]),
        (sale, ["1110 D 87859.00", "4010 C 69180.00", "2210 C 18679.00"]),
    ],
)
def test_vat_in_whole_forints_is_booked_as_stated(make: Any, lines: list[str], book_it: BookIt) -> None:
    # 27 % of 69180.00 is 18678.60
    stated = {"net": "69180.00", "vat": "18679.00", "gross": "87859.00"}
    assert lines_of(book_it(make("69180.00", "27", stated=stated), currency="HUF")) == lines


@pytest.mark.parametrize("make", [purchase, sale])
def test_a_forint_for_each_line_is_the_limit(make: Any, book_it: BookIt) -> None:
    def booked(vat: str, lines_count: str = "1") -> str | None:
        invoice = make("69180.00", "27", amounts={"lines_count": lines_count}, stated={"vat": vat})
        reason: str | None = book_it(invoice, currency="HUF")["reason"]
        return reason

    assert booked("18680.00") == "vat_mismatch"  # off by 1.40
    assert booked("18680.00", "2") is None
    assert booked("18678.90") == "vat_mismatch"  # who prints fillér did not round to forints
    assert booked("18678.61") is None


def test_only_the_gross_in_whole_forints_is_owed(book_it: BookIt) -> None:
    outputs = book_it(purchase("69180.00", "27", stated={"gross": "87859.00"}), currency="HUF")
    assert lines_of(outputs) == ["6110 D 69180.00", "1410 D 18678.60", "2010 C 87859.00", "7080 D 0.40"]


def test_a_foreign_document_is_rounded_as_its_own_currency_is(book_it: BookIt) -> None:
    stated = {"vat": "18679.00", "gross": "87859.00"}
    invoice = purchase("69180.00", "27", currency="HUF", amounts={"fx": "0.0025"}, stated=stated)
    # 172.95, 46.6975 and 219.6475
    assert lines_of(book_it(invoice)) == ["6110 D 172.95", "1410 D 46.70", "2010 C 219.65"]
    euros = purchase("69180.00", "27", currency="EUR", amounts={"fx": "400"}, stated=stated)
    assert book_it(euros, currency="HUF")["reason"] == "vat_mismatch"


def test_taiwan_rounds_its_tax_to_the_dollar(book_it: BookIt) -> None:
    # 5 % of 1234.00 is 61.70
    outputs = book_it(sale("1234.00", "5", stated={"vat": "62.00", "gross": "1296.00"}), currency="TWD")
    assert lines_of(outputs) == ["1110 D 1296.00", "4010 C 1234.00", "2210 C 62.00"]


def test_other_currencies_keep_their_minor_unit(book_it: BookIt) -> None:
    for currency in ("EUR", "SEK", "CZK"):
        outputs = book_it(sale("1234.00", "5", stated={"vat": "62.00", "gross": "1296.00"}), currency=currency)
        assert outputs["reason"] == "vat_mismatch", currency


@pytest.mark.parametrize("make", [purchase, sale])
def test_vat_of_a_foreign_document_is_compared_too(make: Any, book_it: BookIt) -> None:
    stated = {"vat": "50.00", "gross": "150.00"}
    invoice = make("100.00", "20", currency="USD", amounts={"fx": "0.9"}, stated=stated)
    assert book_it(invoice)["reason"] == "vat_mismatch"
    within = {"vat": "20.01", "gross": "120.01"}
    assert book_it({**invoice, "stated": within})["status"] == "posted"
