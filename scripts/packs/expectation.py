"""The parts of an expectation: accounts of the chart, amounts as text, what is expected of lines."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from bookkeeping.ledger import UnknownCurrency, currency_scale
from scripts.packs.stated import NIL, CannotConvert

BANK: Final = "1040"
RECEIVABLE: Final = "1110"
PREPAID_TO_SUPPLIER: Final = "1320"
INPUT_TAX: Final = "1410"
INPUT_TAX_REVERSE_CHARGE: Final = "1420"
TAX_CREDIT: Final = "1440"
PAYABLE: Final = "2010"
PREPAID_BY_CUSTOMER: Final = "2110"
OUTPUT_TAX: Final = "2210"
OUTPUT_TAX_REVERSE_CHARGE: Final = "2220"
SALES_TAX: Final = "2230"
TAX_WITHHELD: Final = "2250"
SALES: Final = "4010"
SALES_RETURNS: Final = "4030"
RENT: Final = "6110"
INSURANCE: Final = "6130"
COST: Final = "6250"
ROUNDING: Final = "7080"

Line = tuple[str, Decimal]
"""Account and amount, debit positive."""


@dataclass(frozen=True, slots=True)
class Booked:
    """One side of a document: the Bookkeeper's inputs and what is expected of it."""

    side: str
    inputs: dict[str, Any]
    expected: dict[str, Any]
    tags: tuple[str, ...]


def book(company: str, currency: str, year: int) -> dict[str, Any]:
    """A book whose months of ``year`` are open."""
    return {"company": company, "currency": currency, "open_from": f"{year}-01-01", "open_to": f"{year}-12-31"}


def scale_of(currency: str) -> int:
    """How many decimals ``currency`` has. Raises CannotConvert for one that is not known."""
    try:
        return currency_scale(currency)
    except UnknownCurrency:
        raise CannotConvert(f"currency {currency!r} is not known") from None


def amount_text(value: Decimal, scale: int) -> str:
    """``value`` with ``scale`` decimals. Raises CannotConvert when it has more."""
    written = value.quantize(Decimal(1).scaleb(-scale))
    if written != value:
        raise CannotConvert("an amount has more decimals than its currency")
    return f"{written:f}"


def rounded(value: Decimal, scale: int) -> Decimal:
    """``value`` rounded half away from zero, as invoices are."""
    return value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)


def converted(lines: Iterable[Line], rate: Decimal, scale: int) -> list[Line]:
    """Each line in book currency, rounded by itself, and what that leaves over as a line for rounding."""
    own = [(account, rounded(amount * rate, scale)) for account, amount in lines]
    return [*own, (ROUNDING, -sum((amount for _, amount in own), NIL))]


def posted(lines: Iterable[Line], day: date, scale: int, *, count_lines: bool = True) -> dict[str, Any]:
    """What is expected when ``lines`` are posted; nothing to post when all of them are nil.

    ``count_lines`` is False where accountants differ on how many lines carry the amounts.
    Raises ValueError when the lines do not balance: then the expectation itself is wrong.
    """
    kept = [(account, amount) for account, amount in lines if amount]
    if sum((amount for _, amount in kept), NIL):
        raise ValueError(f"the expected lines do not balance: {kept}")
    if not kept:
        return {"status": "nothing_to_post", "reason": "zero_amount", "n_entries": 0, "n_lines": 0}
    balances: dict[str, Decimal] = {}
    for account, amount in kept:
        balances[account] = balances.get(account, NIL) + amount
    expected: dict[str, Any] = {"status": "posted", "n_entries": 1}
    if count_lines:
        expected["n_lines"] = len(kept)
    expected["balances"] = {account: amount_text(amount, scale) for account, amount in balances.items()}
    expected["posting_date"] = day.isoformat()
    return expected
