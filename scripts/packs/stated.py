"""What a document states, free of its format: the values between the readers and the booking."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Final

NIL: Final = Decimal(0)


class CannotConvert(Exception):
    """A document that is left out of the pack; the message is the reason, the same for documents of one kind."""


class Tax(StrEnum):
    """Who owes the tax of a group, and to whom."""

    CHARGED = "charged"
    NONE = "none"
    REVERSE_CHARGE = "reverse_charge"
    SALES_TAX = "sales_tax"


class Kind(StrEnum):
    """What a document is, by its type code."""

    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"
    DEBIT_NOTE = "debit_note"
    CORRECTION = "correction"
    SELF_BILLED = "self_billed"
    PROGRESS = "progress"
    RENT = "rent"
    INSURANCE = "insurance"
    ADVANCE = "advance"


@dataclass(frozen=True, slots=True)
class Group:
    """The taxable sum at one rate (percent) and the tax that the document states for it."""

    rate: Decimal
    taxable: Decimal
    tax: Decimal
    treatment: Tax


@dataclass(frozen=True, slots=True)
class Invoice:
    """An invoice or credit note, all amounts in its own currency and with the signs that are printed.

    net, tax, gross: the stated totals, before prepayments and withholding. rounding: what the amount payable is above
    the gross. withheld: tax that the buyer keeps back. fx: book currency for one unit, where the document states it.
    book_currency: that of the supplier's books, where it is not the document's.
    """

    kind: Kind
    number: str | None
    date: date
    currency: str
    supplier: str
    supplier_tax_number: str | None
    buyer: str
    buyer_country: str | None
    groups: tuple[Group, ...]
    net: Decimal
    tax: Decimal
    gross: Decimal
    rounding: Decimal = NIL
    withheld: Decimal = NIL
    lines_count: int = 1
    fx: Decimal | None = None
    book_currency: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Money that the issuer of the document received for invoices of its own."""

    number: str | None
    date: date
    currency: str
    recipient: str
    amount: Decimal
    position: int = 1


@dataclass(frozen=True, slots=True)
class WithholdingCertificate:
    """Tax that ``payer`` withheld from what it paid to ``payee``."""

    number: str | None
    date: date
    currency: str
    payer: str
    payee: str
    withheld: Decimal


@dataclass(frozen=True, slots=True)
class NoEntry:
    """A document that gives rise to no entries, such as an order; ``doc_type`` is its code in the catalogue."""

    doc_type: str
    number: str | None
    date: date
    company: str


Stated = Invoice | Receipt | WithholdingCertificate | NoEntry


def decimal(text: str | None, what: str) -> Decimal:
    """The decimal in ``text``. Raises CannotConvert that names ``what`` when it is not one or not there."""
    try:
        value = Decimal((text or "").strip())
    except InvalidOperation:
        raise CannotConvert(f"{what} is not a number") from None
    if not value.is_finite():
        raise CannotConvert(f"{what} is not a number")
    return value


def day(text: str | None, what: str) -> date:
    """The day in ``text`` (YYYY-MM-DD, with or without a time; or YYYYMMDD). Raises CannotConvert."""
    try:
        return date.fromisoformat((text or "").strip()[:10])
    except ValueError:
        raise CannotConvert(f"{what} is not a date") from None


def merged(groups: Iterable[Group]) -> tuple[Group, ...]:
    """One group for each rate and treatment, in order of appearance, without those that are nil."""
    sums: dict[tuple[Decimal, Tax], Group] = {}
    for group in groups:
        key = (group.rate, group.treatment)
        known = sums.get(key)
        if known is not None:
            group = replace(known, taxable=known.taxable + group.taxable, tax=known.tax + group.tax)
        sums[key] = group
    return tuple(group for group in sums.values() if group.taxable or group.tax)


def with_untaxed_rest(groups: tuple[Group, ...], net: Decimal, tax: Decimal) -> tuple[Group, ...]:
    """``groups`` and, at rate nought, what of ``net`` no group covers.

    Raises CannotConvert when the taxes of the groups are not the stated tax: then nobody can say which is right.
    """
    if sum((group.tax for group in groups), NIL) != tax:
        raise CannotConvert("the taxes by rate do not add up to the stated tax")
    rest = net - sum((group.taxable for group in groups), NIL)
    return merged((*groups, Group(NIL, rest, NIL, Tax.NONE))) if rest else groups
