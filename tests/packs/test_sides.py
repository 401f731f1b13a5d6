"""What is expected in the ledger for a stated document, on both sides, worked out by hand."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.packs.booking import booked
from scripts.packs.expectation import Booked, posted
from scripts.packs.stated import CannotConvert, Group, Invoice, Kind, NoEntry, Receipt, Tax, WithholdingCertificate

D = Decimal
DAY = date(2026, 3, 5)


def an_invoice(*groups: tuple[str, str, str], treatment: Tax = Tax.CHARGED, **changes: Any) -> Invoice:
    """An invoice whose totals are the sums of its groups (rate, taxable, tax)."""
    parts = tuple(Group(D(rate), D(taxable), D(tax), treatment) for rate, taxable, tax in groups)
    net, tax = sum((part.taxable for part in parts), D(0)), sum((part.tax for part in parts), D(0))
    plain = Invoice(
        kind=Kind.INVOICE,
        number="1",
        date=DAY,
        currency="EUR",
        supplier="Ferry Ltd",
        supplier_tax_number="DE1",
        buyer="Larch Trading Ltd",
        buyer_country="DE",
        groups=parts,
        net=net,
        tax=tax,
        gross=net + tax,
    )
    return replace(plain, **changes)


def sides(invoice: Invoice) -> tuple[Booked, Booked]:
    received, issued = booked(invoice)
    return received, issued


def test_buyer_and_supplier_are_mirror_images() -> None:
    received, issued = sides(an_invoice(("19", "100.00", "19.00")))
    assert received.expected["balances"] == {"6250": "100.00", "1410": "19.00", "2010": "-119.00"}
    assert issued.expected["balances"] == {"1110": "119.00", "4010": "-100.00", "2210": "-19.00"}
    assert (received.expected["n_entries"], received.expected["n_lines"]) == (1, 3)
    assert (received.inputs["book"]["company"], issued.inputs["book"]["company"]) == ("Larch Trading Ltd", "Ferry Ltd")


def test_each_rate_has_a_cost_line_of_its_own() -> None:
    received, issued = sides(an_invoice(("19", "100.00", "19.00"), ("7", "50.00", "3.50")))
    assert received.expected["balances"] == {"6250": "150.00", "1410": "22.50", "2010": "-172.50"}
    assert received.expected["n_lines"] == 4
    assert received.inputs["record"]["amounts"] == {
        "lines_count": "1", "net_a": "100.00", "rate_a": "19", "net_b": "50.00", "rate_b": "7",
    }  # fmt: skip
    assert issued.inputs["record"]["facts"] == {"tax": "several_rates"}


def test_a_rounded_payable_leaves_the_difference_on_the_rounding_account() -> None:
    received, issued = sides(an_invoice(("7", "100.00", "7.00"), rounding=D("-0.02")))
    assert received.expected["balances"] == {"6250": "100.00", "1410": "7.00", "2010": "-106.98", "7080": "-0.02"}
    assert issued.expected["balances"] == {"1110": "106.98", "4010": "-100.00", "2210": "-7.00", "7080": "0.02"}
    assert received.inputs["record"]["amounts"]["payable"] == "106.98"


@pytest.mark.parametrize("printed", [1, -1])
def test_a_credit_note_is_a_credit_however_its_signs_are_printed(printed: int) -> None:
    note = an_invoice(("19", f"{printed * 40}", f"{printed * D('7.6')}"), kind=Kind.CREDIT_NOTE)
    received, issued = sides(note)
    assert received.expected["balances"] == {"6250": "-40.00", "1410": "-7.60", "2010": "47.60"}
    assert issued.expected["balances"] == {"1110": "-47.60", "4030": "40.00", "2210": "7.60"}
    assert received.inputs["record"]["stated"]["gross"] == ("47.60" if printed == 1 else "-47.60")


def test_an_invoice_below_zero_is_a_credit() -> None:
    received, issued = sides(an_invoice(("19", "-40", "-7.60")))
    assert received.inputs["record"]["doc_type"] == "supplier_invoice"
    assert received.expected["balances"] == {"6250": "-40.00", "1410": "-7.60", "2010": "47.60"}
    assert issued.expected["balances"] == {"1110": "-47.60", "4030": "40.00", "2210": "7.60"}


def test_a_correction_below_zero_states_the_absolute_difference() -> None:
    received, _ = sides(an_invoice(("19", "-10", "-1.90"), kind=Kind.CORRECTION))
    assert received.inputs["record"]["stated"] == {"net": "10.00", "vat": "1.90", "gross": "11.90"}
    assert received.expected["balances"] == {"6250": "-10.00", "1410": "-1.90", "2010": "11.90"}


def test_a_correction_above_zero_does_not_say_what_it_replaces() -> None:
    with pytest.raises(CannotConvert, match="figures it does not state"):
        list(booked(an_invoice(("19", "10", "1.90"), kind=Kind.CORRECTION)))


def test_the_recipient_of_a_reverse_charge_owes_the_tax_at_its_own_rate() -> None:
    received, issued = sides(an_invoice(("0", "12.50", "0"), treatment=Tax.REVERSE_CHARGE, buyer_country="ES"))
    assert received.expected["balances"] == {"6250": "12.50", "1420": "2.63", "2220": "-2.63", "2010": "-12.50"}
    assert issued.expected["balances"] == {"1110": "12.50", "4010": "-12.50"}


def test_sales_tax_is_cost_to_the_buyer_and_owed_on_its_own_account_by_the_supplier() -> None:
    received, issued = sides(an_invoice(("8.5", "100.00", "8.50"), treatment=Tax.SALES_TAX))
    assert received.expected["balances"] == {"6250": "108.50", "2010": "-108.50"}
    assert issued.expected["balances"] == {"1110": "108.50", "4010": "-100.00", "2230": "-8.50"}


def test_what_is_withheld_is_owed_to_the_tax_office_by_the_buyer() -> None:
    received, issued = sides(an_invoice(("22", "100.00", "22.00"), withheld=D("20.00")))
    assert received.expected["balances"] == {"6250": "100.00", "1410": "22.00", "2250": "-20.00", "2010": "-102.00"}
    assert issued.expected["balances"] == {"1110": "122.00", "4010": "-100.00", "2210": "-22.00"}


def test_a_foreign_invoice_is_converted_line_by_line_and_what_is_left_is_rounding() -> None:
    dollars = an_invoice(("20", "3333.00", "666.60"), currency="USD", fx=D("0.9175"), book_currency="EUR")
    _, issued = sides(dollars)
    # 3999.60 x 0.9175 = 3669.633, 3333.00 x = 3058.0275, 666.60 x = 611.6055
    assert issued.expected["balances"] == {"1110": "3669.63", "4010": "-3058.03", "2210": "-611.61", "7080": "0.01"}
    assert issued.inputs["record"]["amounts"]["fx"] == "0.9175"


def test_totals_that_contradict_each_other_are_to_be_refused() -> None:
    received, issued = sides(an_invoice(("19", "100.00", "19.00"), gross=D("118.00")))
    assert received.expected == {"status": "refused", "reason": "unbalanced", "n_entries": 0, "n_lines": 0}
    assert issued.expected == received.expected


def test_an_invoice_of_nothing_posts_nothing() -> None:
    received, _ = sides(an_invoice())
    assert received.expected == {"status": "nothing_to_post", "reason": "zero_amount", "n_entries": 0, "n_lines": 0}


def test_an_advance_is_no_cost_and_no_revenue() -> None:
    received, issued = sides(an_invoice(("23", "100.00", "23.00"), kind=Kind.ADVANCE))
    assert received.expected["balances"] == {"1320": "100.00", "1410": "23.00", "2010": "-123.00"}
    assert issued.expected["balances"] == {"1110": "123.00", "2110": "-100.00", "2210": "-23.00"}


@pytest.mark.parametrize(
    ("kind", "account"), [(Kind.RENT, "6110"), (Kind.INSURANCE, "6130"), (Kind.SELF_BILLED, "6250")]
)
def test_the_kind_says_which_cost_it_is(kind: Kind, account: str) -> None:
    received, _ = sides(an_invoice(("0", "75.00", "0"), kind=kind))
    assert received.expected["balances"] == {account: "75.00", "2010": "-75.00"}


def test_more_decimals_than_the_currency_has_are_left_out() -> None:
    with pytest.raises(CannotConvert, match="more decimals than its currency"):
        list(booked(an_invoice(("10", "100.5", "10.05"), currency="JPY")))


def test_a_receipt_clears_the_receivable_and_a_certificate_too() -> None:
    (receipt,) = booked(Receipt("9", DAY, "MXN", "Agave", D("372")))
    (certificate,) = booked(WithholdingCertificate(None, DAY, "MXN", "Hotel", "Agave", D("35")))
    (order,) = booked(NoEntry("purchase_order", "1", DAY, "Larch"))
    assert receipt.expected["balances"] == {"1040": "372.00", "1110": "-372.00"}
    assert certificate.expected["balances"] == {"1440": "35.00", "1110": "-35.00"}
    assert order.expected["reason"] == "non_posting_type"


def test_an_expectation_that_does_not_balance_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="do not balance"):
        posted([("1110", D("1.00")), ("4010", D("-0.99"))], DAY, 2)


cents = st.decimals(min_value=-10_000, max_value=10_000, places=2)


@given(st.lists(st.tuples(st.sampled_from(["0", "7", "19"]), cents, cents), max_size=4), st.sampled_from(list(Kind)))
def test_every_invoice_is_expected_in_balance_or_left_out(
    groups: list[tuple[str, Decimal, Decimal]], kind: Kind
) -> None:
    invoice = an_invoice(*((rate, str(taxable), str(tax)) for rate, taxable, tax in groups), kind=kind)
    try:
        both = list(booked(invoice))
    except CannotConvert:
        return
    for side in both:
        assert sum(map(Decimal, side.expected.get("balances", {}).values())) == 0
