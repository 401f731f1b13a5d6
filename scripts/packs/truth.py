"""Invoices of which only the stated figures were kept, in a ``truth.json`` beside the documents."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.packs.en16931 import checked_rounding, group, kind_of
from scripts.packs.stated import CannotConvert, Invoice, day, decimal, merged, with_untaxed_rest


def entries(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The entries of ``folder``'s truth.json by document id; none when there is no such file."""
    file = folder / "truth.json"
    if file.is_file():
        for entry in json.loads(file.read_text("utf-8")):
            yield entry["id"], entry


def read_entry(entry: Mapping[str, Any]) -> Invoice:
    """The invoice of one entry. Raises CannotConvert."""
    try:
        return _invoice(entry["fields"])
    except (KeyError, TypeError):
        raise CannotConvert("its entry in truth.json is not that of an invoice") from None


def _invoice(fields: Mapping[str, Any]) -> Invoice:
    groups = merged(
        group(part["category"], part["rate"], part["taxable"], part["tax"]) for part in fields["tax_breakdown"]
    )
    net, tax = decimal(fields["net"], "the net total"), decimal(fields["tax"] or "0", "the tax total")
    gross = decimal(fields["gross"], "the gross total")
    return Invoice(
        kind=kind_of(fields["type_code"]),
        number=fields["number"],
        date=day(fields["issue_date"], "the date of issue"),
        currency=fields["currency"],
        supplier=fields["supplier"]["name"],
        supplier_tax_number=fields["supplier"]["tax_id"],
        buyer=fields["customer"]["name"],
        buyer_country=fields["customer"]["country"],
        groups=with_untaxed_rest(groups, net, tax),
        net=net,
        tax=tax,
        gross=gross,
        rounding=checked_rounding(gross, fields["prepaid"], fields["rounding"], fields["payable"]),
        lines_count=max(1, fields["line_count"]),
    )
