"""Builders: records with good defaults, and lines as short text ("6110 D 1000.00")."""

import json
from pathlib import Path
from typing import Any

from bookkeeping.agents.bookkeeper.rulebook import rulebook

Json = dict[str, Any]
HERE = Path(__file__).parent


def record(doc_type: str, **keys: Any) -> Json:
    """A record of this type, dated and numbered."""
    return {"doc_type": doc_type, "number": "D-1", "date": "2026-03-04", "issuer": "Birch & Co", **keys}


def sale(net: str = "1000.00", rate: str = "20", **keys: Any) -> Json:
    """A sales invoice at one rate in the currency of the book."""
    amounts = {"net": net, "rate": rate, **keys.pop("amounts", {})}
    facts = {"tax": "one_rate", **keys.pop("facts", {})}
    return record("sales_invoice", amounts=amounts, facts=facts, **keys)


def purchase(net: str = "1000.00", rate: str = "20", **keys: Any) -> Json:
    """A supplier's invoice for rent at one rate."""
    amounts = {"net": net, "rate": rate, **keys.pop("amounts", {})}
    return record("supplier_invoice", amounts=amounts, **{"categories": {"expense": "rent"}, **keys})


def lines_of(outputs: Json) -> list[str]:
    """The posted lines as text, in ledger order."""
    return [f"{line['account']} {line['side'][0].upper()} {line['amount']}" for line in outputs["lines"]]


def lines_of_example(entries: list[Json]) -> list[str]:
    """The lines of a worked example in the same words."""
    return [
        f"{e['account']} D {e['debit']}" if e["debit"].strip("0.") else f"{e['account']} C {e['credit']}"
        for e in entries
    ]


def record_for(rule: str, inputs: Json) -> Json:
    """A record that states ``inputs`` and the facts that lead to this variant ("supplier_invoice.expense")."""
    doc_type, _, variant = rule.partition(".")
    decision = rulebook().rules[doc_type].decision
    facts: dict[str, str] = {}
    lines: list[Json] = []
    if all(line.account_by == "voucher" for line in rulebook().rules[doc_type].variants[variant].lines):
        sides = rulebook().rules[doc_type].variants[variant].lines
        lines = [{"account": line.account, "side": line.side, "amount": inputs["amount"]} for line in sides]
    if decision is not None:
        row = next(row for row in decision.select if row.variant == variant)
        stated = {field.name for field in decision.fields if not field.conditions}
        facts = {name: values[0] for name, values in row.where.items() if name in stated}
    currency = "USD" if facts.get("currency") == "foreign" and doc_type != "bank_statement" else None
    return record(doc_type, amounts=inputs, facts=facts, currency=currency, lines=lines)


def read(name: str) -> Any:
    """A data file of this folder."""
    return json.loads((HERE / name).read_text("utf-8"))
