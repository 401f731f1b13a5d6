"""Documents of GOBL (JSON envelopes with computed totals)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from scripts.packs.stated import (
    NIL,
    CannotConvert,
    Group,
    Invoice,
    Kind,
    NoEntry,
    Receipt,
    Stated,
    Tax,
    day,
    decimal,
    merged,
    with_untaxed_rest,
)

_KINDS: Final = {
    "standard": Kind.INVOICE,
    "other": Kind.INVOICE,
    "credit-note": Kind.CREDIT_NOTE,
    "debit-note": Kind.DEBIT_NOTE,
    "corrective": Kind.CORRECTION,
}
_RECIPIENT_PAYS: Final = frozenset({"reverse-charge", "intra-community"})
_NO_ENTRIES: Final = {"order": "purchase_order", "delivery": "delivery_note"}


def read_document(file: Path) -> Stated:
    """What the envelope in ``file`` states. Raises CannotConvert."""
    try:
        envelope = json.loads(file.read_text("utf-8"))
        return _stated(envelope.get("doc", envelope))
    except json.JSONDecodeError:
        raise CannotConvert("it is not JSON") from None
    except KeyError as missing:
        raise CannotConvert(f"it does not state {missing.args[0]}") from None


def _stated(document: Mapping[str, Any]) -> Stated:
    schema = str(document.get("$schema", "")).rpartition("/")[2]
    date = day(document.get("issue_date"), "the date of issue")
    if schema in _NO_ENTRIES:
        return NoEntry(_NO_ENTRIES[schema], _number(document), date, _party(document, "customer"))
    if schema == "payment":
        return _receipt(document)
    if schema != "invoice":
        raise CannotConvert(f"{schema or 'a document without a schema'} is none that is booked")
    return _invoice(document)


def _number(document: Mapping[str, Any]) -> str | None:
    return "-".join(part for part in (document.get("series"), document.get("code")) if part) or None


def _party(document: Mapping[str, Any], role: str) -> str:
    return str(document.get(role, {}).get("name") or role.capitalize())


def _receipt(document: Mapping[str, Any]) -> Receipt:
    methods = document.get("methods", [])
    total = decimal(document.get("total"), "the total")
    if len(methods) != 1 or methods[0].get("currency", document["currency"]) != document["currency"]:
        raise CannotConvert("it is paid by several means")
    if decimal(methods[0].get("amount"), "the amount paid") != total:
        raise CannotConvert("it pays more or less than it settles")
    number, date = _number(document), day(document.get("issue_date"), "the date of issue")
    return Receipt(number, date, document["currency"], _party(document, "supplier"), total)


def _invoice(document: Mapping[str, Any]) -> Invoice:
    totals, tags = document["totals"], document.get("$tags", [])
    net, tax = decimal(totals["total"], "the net total"), decimal(totals.get("tax", "0"), "the tax total")
    gross = decimal(totals["total_with_tax"], "the gross total")
    withheld = decimal(totals.get("retained_tax", "0"), "the tax withheld")
    categories = totals.get("taxes", {}).get("categories", [])
    groups = with_untaxed_rest(merged(_on_one_base(categories, _groups(categories))), net, tax)
    payable = decimal(totals["payable"], "the amount payable")
    supplier, buyer = document.get("supplier", {}), document.get("customer") or {}
    return Invoice(
        kind=_kind(document, tags),
        number=_number(document),
        date=day(document.get("issue_date"), "the date of issue"),
        currency=document["currency"],
        supplier=_party(document, "supplier"),
        supplier_tax_number=supplier.get("tax_id", {}).get("code"),
        buyer=str(buyer.get("name") or "Buyer"),
        buyer_country=buyer.get("tax_id", {}).get("country"),
        groups=groups,
        net=net,
        tax=tax,
        gross=gross,
        rounding=payable - (gross - withheld),
        withheld=withheld,
        lines_count=max(1, len(document.get("lines") or [])),
    )


def _kind(document: Mapping[str, Any], tags: list[str]) -> Kind:
    kind = _KINDS.get(document.get("type", "standard"))
    if kind is None:
        raise CannotConvert(f"an invoice of type {document.get('type')} is not known")
    if "self-billed" in tags and kind is Kind.INVOICE:
        return Kind.SELF_BILLED
    if "partial" in tags:
        if kind is not Kind.INVOICE:
            raise CannotConvert("it credits an advance")
        return Kind.ADVANCE
    return kind


def _groups(categories: list[Mapping[str, Any]]) -> Iterator[Group]:
    for category in categories:
        if category.get("retained"):
            continue
        for part in category["rates"]:
            if "surcharge" in part:
                raise CannotConvert("it bears a surcharge on the tax (recargo de equivalencia)")
            rate = decimal(str(part.get("percent") or "0").removesuffix("%"), "a tax rate")
            taxable, tax = decimal(part["base"], "a taxable amount"), decimal(part["amount"], "a tax amount")
            yield Group(rate, taxable, tax, _treatment(category["code"], part.get("key"), rate))


def _treatment(code: str, key: str | None, rate: Decimal) -> Tax:
    if key in _RECIPIENT_PAYS:
        return Tax.REVERSE_CHARGE
    if rate == NIL:
        return Tax.NONE
    return Tax.SALES_TAX if code == "ST" else Tax.CHARGED


def _on_one_base(categories: list[Mapping[str, Any]], groups: Iterator[Group]) -> list[Group]:
    """Central and state tax (CGST and SGST) lie on one base: together they are one group, at the sum of their rates."""
    known = list(groups)
    if {category["code"] for category in categories} != {"CGST", "SGST"}:
        return known
    central, state = known[: len(known) // 2], known[len(known) // 2 :]
    if [group.taxable for group in central] != [group.taxable for group in state]:
        raise CannotConvert("central and state tax lie on different bases")
    return [
        replace(one, rate=one.rate + other.rate, tax=one.tax + other.tax)
        for one, other in zip(central, state, strict=True)
    ]
