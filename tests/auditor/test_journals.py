"""Plain-text journals: quantities, weights, the posting left blank, pads."""

from decimal import Decimal

import pytest

from scripts.packs.journals import CannotRead, amount, balances, read_beancount, read_ledger

LEDGER = """
= /^Income/
  (Liabilities:Tithe)    0.12

2004/05/01=2004/05/02 * (77) Opening
    Assets:Bank          $1,000.00  ; a note
    Equity

2004/05/03 Shares
    Assets:Shares        50 AAPL @ $30.00
    Assets:Bank

2004/05/04 Two commodities
    Assets:Wallet        10.00€
    Assets:Bank          $-12.50
    Expenses:Rest
"""
BEANCOUNT = """
option "operating_currency" "EUR"
2012-12-10 pad Assets:Cash Equity:Opening
2012-12-11 balance Assets:Cash  10.00 EUR
2012-12-12 * "Shop" "Food"
    receipt: "7.pdf"
    ! Expenses:Food  4.00 EUR
    Assets:Cash
2012-12-13 * "Sale" "at cost"
    Assets:Gold  -2 GLD {100.50 EUR} @ 120.00 EUR
    Assets:Cash  240.00 EUR
    Income:Gains
"""


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("$-1,000.00", (Decimal("-1000.00"), "$")), ("-$6.55", (Decimal("-6.55"), "$")), ("5", (Decimal(5), "")),
        ("-44 GLD", (Decimal(-44), "GLD")), ("10.00€", (Decimal("10.00"), "€")), ("$ 37.50", (Decimal("37.50"), "$")),
    ],
)  # fmt: skip
def test_an_amount_is_a_quantity_and_its_commodity(text: str, read: tuple[Decimal, str]) -> None:
    assert amount(text) == read


def test_what_is_no_amount_is_refused() -> None:
    with pytest.raises(CannotRead):
        amount("--5 x y")


def test_balances_of_a_ledger_journal() -> None:
    """Bank: 1,000.00 - 50 x 30.00 - 12.50. The blank posting takes the rest of each commodity."""
    assert balances(read_ledger(LEDGER)) == {
        ("Assets:Bank", "$"): Decimal("-512.50"),
        ("Equity", "$"): Decimal("-1000.00"),
        ("Assets:Shares", "AAPL"): Decimal(50),
        ("Assets:Wallet", "€"): Decimal("10.00"),
        ("Expenses:Rest", "€"): Decimal("-10.00"),
        ("Expenses:Rest", "$"): Decimal("12.50"),
    }


def test_balances_of_a_beancount_journal() -> None:
    """The pad brings 10.00; the sale is weighed at its cost of 201.00, so the gain is 39.00."""
    assert balances(read_beancount(BEANCOUNT)) == {
        ("Assets:Cash", "EUR"): Decimal("246.00"),
        ("Equity:Opening", "EUR"): Decimal("-10.00"),
        ("Expenses:Food", "EUR"): Decimal("4.00"),
        ("Assets:Gold", "GLD"): Decimal(-2),
        ("Income:Gains", "EUR"): Decimal("-39.00"),
    }
