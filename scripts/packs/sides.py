"""An invoice in the books of its buyer and in those of its supplier.

What is owed is the stated gross, less what is withheld, plus what is rounded; the stated tax goes to its account; what
is left is cost or revenue, a line for each rate. A credit is the same with all signs turned.
"""

from collections.abc import Mapping
from decimal import Decimal
from string import ascii_lowercase
from typing import Any, Final

from scripts.packs.expectation import (
    COST,
    INPUT_TAX,
    INPUT_TAX_REVERSE_CHARGE,
    INSURANCE,
    OUTPUT_TAX,
    OUTPUT_TAX_REVERSE_CHARGE,
    PAYABLE,
    PREPAID_BY_CUSTOMER,
    PREPAID_TO_SUPPLIER,
    RECEIVABLE,
    RENT,
    ROUNDING,
    SALES,
    SALES_RETURNS,
    SALES_TAX,
    TAX_WITHHELD,
    Booked,
    Line,
    amount_text,
    book,
    converted,
    posted,
    rounded,
    scale_of,
)
from scripts.packs.stated import NIL, CannotConvert, Group, Invoice, Kind, Tax

STANDARD_RATES: Final[Mapping[str, Decimal]] = {
    country: Decimal(rate)
    for country, rate in {
        "AT": "20", "BE": "21", "DE": "19", "DK": "25", "ES": "21",
        "FR": "20", "IE": "23", "IT": "22", "NL": "21", "PL": "23",
    }.items()
}  # fmt: skip
"""Standard rates of value added tax in force: no reverse charge invoice states the rate that its recipient owes."""

_NEGATIVE_IS_CREDIT: Final = frozenset({Kind.INVOICE, Kind.CREDIT_NOTE, Kind.CORRECTION})
_UNSORTED: Final = {"expense": "other", "origin": COST}
"""No category of the chart's map: the cost is on its default account, and so is the cost that is credited."""


def buyer_side(invoice: Invoice) -> Booked:
    """The invoice received. Raises CannotConvert."""
    _check(invoice)
    record = _record(invoice, issuer=invoice.supplier, issuer_tax_number=invoice.supplier_tax_number)
    record["categories"] = dict(_UNSORTED)
    lines = _owed_by_recipient(invoice, record) if _is_reverse_charge(invoice) else _cost_lines(invoice)
    _type_for_buyer(invoice, record)
    return _booked("received", invoice, record, lines)


def supplier_side(invoice: Invoice) -> Booked:
    """The invoice issued. Raises CannotConvert."""
    _check(invoice)
    record = _record(invoice, issuer=invoice.supplier, issuer_tax_number=invoice.supplier_tax_number)
    record["categories"] = {"revenue": "goods"}
    _type_for_supplier(invoice, record)
    return _booked("issued", invoice, record, _revenue_lines(invoice))


def _check(invoice: Invoice) -> None:
    if invoice.kind is Kind.CORRECTION and not _is_credit(invoice):
        raise CannotConvert("it replaces an invoice whose figures it does not state")
    if _is_negative(invoice) and invoice.kind not in _NEGATIVE_IS_CREDIT:
        raise CannotConvert(f"a {invoice.kind} below zero is for a person to decide")
    if len({group.treatment is Tax.REVERSE_CHARGE for group in invoice.groups}) > 1:
        raise CannotConvert("the recipient owes the tax of a part of it")
    if invoice.kind is Kind.INSURANCE and invoice.tax:
        raise CannotConvert("an insurance premium that bears value added tax is for a person to decide")
    if invoice.withheld and (_is_credit(invoice) or invoice.kind is not Kind.INVOICE):
        raise CannotConvert("tax is withheld on something other than an invoice")
    if invoice.book_currency not in (None, invoice.currency) and invoice.fx is None:
        raise CannotConvert("it is in a foreign currency without a rate")


def _is_negative(invoice: Invoice) -> bool:
    return (invoice.gross or invoice.net) < 0


def _is_credit(invoice: Invoice) -> bool:
    return invoice.kind is Kind.CREDIT_NOTE or _is_negative(invoice)


def _is_reverse_charge(invoice: Invoice) -> bool:
    return any(group.treatment is Tax.REVERSE_CHARGE for group in invoice.groups)


def _sign(invoice: Invoice) -> int:
    """Turns the amounts that are printed into those of an invoice that is owed: a credit stands against it."""
    if invoice.kind is Kind.CREDIT_NOTE:
        return 1 if _is_negative(invoice) else -1
    return 1


def _record(invoice: Invoice, **issuer: str | None) -> dict[str, Any]:
    scale = scale_of(invoice.currency)
    printed = -1 if invoice.kind is Kind.CORRECTION else 1  # a correction states the absolute difference
    record: dict[str, Any] = {
        "doc_type": "",
        "number": invoice.number,
        "date": invoice.date.isoformat(),
        **{name: value for name, value in issuer.items() if value},
        "currency": invoice.currency,
        "facts": {},
        "amounts": _amounts(invoice, printed, scale),
        "categories": {},
        "stated": {
            "net": amount_text(printed * invoice.net, scale),
            "vat": amount_text(printed * invoice.tax, scale),
            "gross": amount_text(printed * invoice.gross, scale),
        },
    }
    return record


def _amounts(invoice: Invoice, printed: int, scale: int) -> dict[str, str]:
    amounts = {"lines_count": str(invoice.lines_count)}
    groups = invoice.groups or (Group(NIL, NIL, NIL, Tax.NONE),)
    for mark, group in zip(ascii_lowercase, groups, strict=False):
        suffix = "" if len(groups) == 1 else f"_{mark}"
        amounts[f"net{suffix}"] = amount_text(printed * group.taxable, scale)
        amounts[f"rate{suffix}"] = f"{group.rate:f}"
    if invoice.rounding:
        amounts["payable"] = amount_text(printed * (invoice.gross + invoice.rounding), scale)
    if invoice.fx is not None:
        amounts["fx"] = f"{invoice.fx:f}"
    return amounts


def _cost_lines(invoice: Invoice) -> list[Line]:
    cost = {Kind.RENT: RENT, Kind.INSURANCE: INSURANCE, Kind.ADVANCE: PREPAID_TO_SUPPLIER}.get(invoice.kind, COST)
    lines = [
        (cost, group.taxable + (group.tax if group.treatment is Tax.SALES_TAX else NIL)) for group in invoice.groups
    ]
    recoverable = sum((group.tax for group in invoice.groups if group.treatment is not Tax.SALES_TAX), NIL)
    owed = invoice.gross - invoice.withheld + invoice.rounding
    lines += [(INPUT_TAX, recoverable), (TAX_WITHHELD, -invoice.withheld), (PAYABLE, -owed)]
    return [*lines, (ROUNDING, invoice.rounding)]


def _owed_by_recipient(invoice: Invoice, record: dict[str, Any]) -> list[Line]:
    rate = STANDARD_RATES.get(invoice.buyer_country or "")
    if rate is None:
        raise CannotConvert("the rate that the recipient of a reverse charge owes is not known")
    if len(invoice.groups) > 1 or invoice.rounding:
        raise CannotConvert("a reverse charge with several parts is for a person to decide")
    record["amounts"] |= {"rate": f"{rate:f}", "deductible": "100"}
    tax = rounded(invoice.net * rate / 100, scale_of(invoice.currency))
    return [
        (COST, invoice.net),
        (INPUT_TAX_REVERSE_CHARGE, tax),
        (OUTPUT_TAX_REVERSE_CHARGE, -tax),
        (PAYABLE, -invoice.net),
    ]


def _revenue_lines(invoice: Invoice) -> list[Line]:
    revenue = SALES_RETURNS if _is_credit(invoice) else SALES
    if invoice.kind is Kind.ADVANCE:
        revenue = PREPAID_BY_CUSTOMER
    sales_tax = sum((group.tax for group in invoice.groups if group.treatment is Tax.SALES_TAX), NIL)
    lines = [(RECEIVABLE, invoice.gross + invoice.rounding)]
    lines += [(revenue, -group.taxable) for group in invoice.groups]
    return [*lines, (OUTPUT_TAX, sales_tax - invoice.tax), (SALES_TAX, -sales_tax), (ROUNDING, -invoice.rounding)]


def _type_for_buyer(invoice: Invoice, record: dict[str, Any]) -> None:
    facts, amounts = record["facts"], record["amounts"]
    if any(group.treatment is Tax.SALES_TAX for group in invoice.groups):
        amounts["deductible"] = "0"
    match invoice.kind:
        case Kind.CREDIT_NOTE | Kind.CORRECTION:
            is_correction = invoice.kind is Kind.CORRECTION
            record["doc_type"] = "corrected_invoice" if is_correction else "supplier_credit_note"
            reverse_charge = "yes" if _is_reverse_charge(invoice) else "no"
            facts |= {"credit_for": "cost_or_price", "reverse_charge": reverse_charge}
            facts |= {"direction": "received", "correction": "decrease"} if is_correction else {}
        case _ if _is_reverse_charge(invoice):
            record["doc_type"] = "reverse_charge_invoice"
        case Kind.SELF_BILLED:
            record["doc_type"] = "self_billed_invoice_issued"
            facts["receipt"] = "none"
        case Kind.ADVANCE:
            record["doc_type"] = "supplier_prepayment_invoice"
        case Kind.RENT if len(invoice.groups) == 1:
            record["doc_type"] = "rent_invoice"
            facts["lease"] = "off_balance"
        case Kind.RENT:
            record["doc_type"] = "supplier_invoice"
            record["categories"] = {"expense": "rent"}
        case Kind.INSURANCE:
            record["doc_type"] = "insurance_premium_invoice"
            facts["period"] = "current"
            amounts |= {"premium": record["stated"]["net"], "ipt_rate": "0"}
        case _ if invoice.withheld:
            record["doc_type"] = "withholding_fee_invoice"
            facts["withholding_point"] = "invoice"
            _add_withholding(invoice, record)
        case _:
            record["doc_type"] = "supplier_invoice"


def _add_withholding(invoice: Invoice, record: dict[str, Any]) -> None:
    """The amount withheld is stated; base and rate are given so that they make it, to the last decimal that matters."""
    scale = scale_of(invoice.currency)
    rate = (invoice.withheld * 100 / invoice.net).quantize(Decimal("0.000001")).normalize()
    record["amounts"] |= {"wht_base": record["stated"]["net"], "wht_rate": f"{rate:f}"}
    record["stated"]["wht"] = amount_text(invoice.withheld, scale)


def _type_for_supplier(invoice: Invoice, record: dict[str, Any]) -> None:
    facts = record["facts"]
    match invoice.kind:
        case Kind.CREDIT_NOTE:
            record["doc_type"] = "sales_credit_note"
            facts["document"] = "credit_note"
        case Kind.CORRECTION:
            record["doc_type"] = "corrected_invoice"
            facts |= {"direction": "issued", "correction": "decrease"}
        case Kind.DEBIT_NOTE:
            record["doc_type"] = "sales_debit_note"
        case Kind.SELF_BILLED:
            record["doc_type"] = "self_billed_invoice_received"
        case Kind.ADVANCE:
            record["doc_type"] = "prepayment_invoice"
        case Kind.PROGRESS:
            record["doc_type"] = "progress_invoice"
            record["amounts"]["retention"] = "0"
        case _:
            record["doc_type"] = "sales_invoice"
            facts["tax"] = _tax_fact(invoice)


def _tax_fact(invoice: Invoice) -> str:
    if any(group.treatment is Tax.SALES_TAX for group in invoice.groups):
        return "sales_tax"
    if len(invoice.groups) > 1:
        return "several_rates"
    return "one_rate" if any(group.rate for group in invoice.groups) else "none"


def _booked(side: str, invoice: Invoice, record: dict[str, Any], lines: list[Line]) -> Booked:
    company = invoice.buyer if side == "received" else invoice.supplier
    currency = invoice.book_currency or invoice.currency
    inputs = {"book": book(company, currency, invoice.date.year), "record": record}
    tags = (invoice.kind.value, invoice.currency)
    if invoice.net + invoice.tax != invoice.gross:
        expected = {"status": "refused", "reason": "unbalanced", "n_entries": 0, "n_lines": 0}
        return Booked(side, inputs, expected, (*tags, "refusal"))
    lines = [(account, _sign(invoice) * amount) for account, amount in lines]
    scale = scale_of(currency)
    if invoice.fx is not None and currency != invoice.currency:
        lines = converted(lines, invoice.fx, scale)
    one_for_each_rate = len(invoice.groups) < 2 or not (
        invoice.kind in (Kind.ADVANCE, Kind.INSURANCE) or (side == "issued" and _is_credit(invoice))
    )
    return Booked(side, inputs, posted(lines, invoice.date, scale, count_lines=one_for_each_rate), tags)
