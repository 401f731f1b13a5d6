"""The public sources of papers for the Typewriter: receipts, e-invoices as text, printed invoices, bank files."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from bookkeeping.documents import catalogue
from scripts.packs.paper import NEUTRAL, Paper, Published

STATEMENT: Final = "bank_statement"


@dataclass(frozen=True, slots=True)
class PaperSource:
    """A folder of papers, and who reads them."""

    folder: str
    read: Callable[[Path], Iterator[Paper]]


def lines_of(folder: Path, *names: str) -> Iterator[Mapping[str, Any]]:
    """The records of JSON-lines files."""
    for name in names:
        file = folder / name
        if file.is_file():
            yield from (json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip())


def truths(folder: Path) -> Iterator[Mapping[str, Any]]:
    """The records of a truth.json, where there is one."""
    file = folder / "truth.json"
    yield from json.loads(file.read_text("utf-8")) if file.is_file() else ()


def scanned_receipts(folder: Path) -> Iterator[Paper]:
    """Receipts with four published keys: company, date, address, total."""
    for row in lines_of(folder, "train.jsonl", "test.jsonl"):
        known = row["normalised"]
        fields = {
            "issuer": row["labels"].get("company"),
            "date": known.get("date"),
            "total": known.get("total"),
            "currency": known.get("currency"),
        }
        yield Paper(row["id"], row["text"], (Published(row["doc_type"], fields),), tags=("receipt",))


def itemised_receipts(folder: Path) -> Iterator[Paper]:
    """Receipts with their items, tax and total."""
    for row in lines_of(folder, "cord.jsonl", "express.jsonl", "zenodo.jsonl"):
        labels = row["labels"]
        fields = {
            "issuer": labels.get("merchant"),
            "date": labels.get("date"),
            "total": plain_amount(labels.get("total")),
            "tax": plain_amount(labels.get("tax")) if Decimal(labels.get("tax") or 0) else None,
            "currency": labels.get("currency"),
        }
        rows = [{"description": item["name"], "amount": plain_amount(item["total"])} for item in labels["items"]]
        yield Paper(row["id"], row["text"], (Published(row["doc_type"], fields, rows),), tags=("receipt",))


def invoices(folder: Path) -> Iterator[Paper]:
    """E-invoices as text with the truth of their XML or JSON; where there is one, the text of the original PDF too."""
    for row in truths(folder):
        documents = row.get("documents") or [row]
        us = (documents[0].get("fields") or {}).get(our_side(documents[0].get("doc_type")))
        for kind in ("text", "pdf_text"):
            file = folder / kind / f"{row['id']}.txt"
            if file.is_file():
                yield Paper(
                    row["id"] if kind == "text" else f"{row['id']}-pdf",
                    file.read_text("utf-8"),
                    tuple(published_invoice(item, with_rows=kind == "text") for item in documents),
                    company=party(us) or NEUTRAL,
                    tags=("invoice", kind),
                )


def published_invoice(told: Mapping[str, Any], *, with_rows: bool) -> Published:
    """One e-invoice. A PDF may show its lines in another way than the XML has them, so its rows are left out."""
    rows = [invoice_row(line) for line in told.get("lines") or ()] if with_rows else []
    return Published(known_type(told.get("doc_type")), invoice_fields(told["fields"]), rows)


def invoice_row(line: Mapping[str, Any]) -> dict[str, str | None]:
    """A line of an e-invoice by the names of the catalogue."""
    return {"description": line.get("description"), "amount": line.get("net")}


def our_side(code: str | None) -> str:
    """Whether the type is that of the seller's or of the buyer's books."""
    return "supplier" if (code or "").startswith(("sales_", "customer_")) else "customer"


def invoice_fields(told: Mapping[str, Any]) -> dict[str, str | None]:
    """The fields of an e-invoice by the names of the catalogue."""
    supplier, customer = told.get("supplier") or {}, told.get("customer") or {}
    return {
        "number": told.get("number"),
        "date": told.get("issue_date"),
        "due_date": told.get("due_date"),
        "issuer": party(supplier),
        "recipient": party(customer),
        "issuer_tax_id": supplier.get("tax_id"),
        "recipient_tax_id": customer.get("tax_id"),
        "order_number": told.get("order_ref"),
        "net": told.get("net"),
        "tax": told.get("tax"),
        "total": told.get("gross") or told.get("total"),
        "currency": told.get("currency"),
    }


def party(told: Mapping[str, Any] | None) -> str | None:
    """A party's name as it trades."""
    return (told or {}).get("name") or (told or {}).get("legal_name")


def known_type(code: str | None) -> str | None:
    """The type, where the catalogue has it."""
    return code if code in catalogue().types else None


def printed_invoices(folder: Path) -> Iterator[Paper]:
    """Real invoices as text, with the few values that are published of each."""
    for row in truths(folder):
        told = row["fields"]
        file = folder / "text" / f"{row['id']}.txt"
        if file.is_file():
            fields = {
                "issuer": told.get("issuer"),
                "date": told.get("date"),
                "number": text_of(told.get("invoice_number")),
                "total": text_of(told.get("amount")),
                "currency": told.get("currency"),
            }
            yield Paper(row["id"], file.read_text("utf-8"), (Published(None, fields),), tags=("invoice", "printed"))


def swift_statements(folder: Path) -> Iterator[Paper]:
    """MT940 files. One that holds several statements is as many documents; then the movements are not told apart."""
    for row in truths(folder):
        file = folder / "sta" / f"{row['id']}.sta"
        if file.is_file() and row.get("statements"):
            text = file.read_bytes().decode(row.get("encoding") or "utf-8", "replace")
            yield Paper(row["id"], text, tuple(_swift(row)), tags=("bank", "mt940"))


def _swift(row: Mapping[str, Any]) -> Iterator[Published]:
    currencies = row.get("currency") or []
    fields = {"account_number": row.get("account"), "currency": currencies[0] if len(currencies) == 1 else None}
    if row["statements"] == 1:
        balances = {"opening_balance": row.get("opening"), "closing_balance": row.get("closing")}
        rows = [{"value_date": item["value_date"], "amount": item["amount"]} for item in row["movements"]]
        yield Published(STATEMENT, {**fields, **balances}, rows)
        return
    for item in row.get("per_statement") or [{}] * row["statements"]:
        balances = {"opening_balance": item.get("opening"), "closing_balance": item.get("closing")}
        yield Published(STATEMENT, {**fields, **balances})


def camt_statements(folder: Path) -> Iterator[Paper]:
    """camt files as text."""
    for row in truths(folder):
        file = folder / "text" / f"{row['id']}.txt"
        if file.is_file() and row.get("statements"):
            yield Paper(row["id"], file.read_text("utf-8"), tuple(map(_camt, row["statements"])), tags=("bank", "camt"))


def _camt(told: Mapping[str, Any]) -> Published:
    currencies = {entry["currency"] for entry in told["entries"]}
    fields = {
        "account_number": told.get("account"),
        "statement_number": told.get("statement"),
        "currency": currencies.pop() if len(currencies) == 1 else None,
    }
    rows = [
        {"date": item["booking_date"], "value_date": item["value_date"], "amount": item["amount"]}
        for item in told["entries"]
    ]
    return Published(STATEMENT, fields, rows)


def ofx_statements(folder: Path) -> Iterator[Paper]:
    """OFX files."""
    for row in truths(folder):
        file = folder / "ofx" / f"{row['id']}.ofx"
        if file.is_file() and row.get("doc_type") == STATEMENT:
            fields = {
                "account_number": row.get("account"),
                "currency": row.get("currency"),
                "closing_balance": row.get("ledger_balance"),
            }
            rows = [{"date": iso(item["date"]), "amount": item["amount"]} for item in row.get("entries") or ()]
            text = file.read_bytes().decode("utf-8", "replace")
            yield Paper(row["id"], text, (Published(STATEMENT, fields, rows),), tags=("bank", "ofx"))


def iso(compact: str | None) -> str | None:
    """A date without dashes with them."""
    return f"{compact[:4]}-{compact[4:6]}-{compact[6:8]}" if compact and len(compact) >= 8 else None


def plain_amount(value: object) -> str | None:
    """An amount without zeros that nobody prints: ``226500.0`` is ``226500``."""
    if value in (None, ""):
        return None
    number = Decimal(str(value))
    return f"{number:.0f}" if number == number.to_integral_value() else f"{number:f}"


def text_of(value: object) -> str | None:
    """A value as text; None stays None."""
    return None if value is None else str(value)


PAPERS: Final = (
    PaperSource("camt", camt_statements),
    PaperSource("cfdi", invoices),
    PaperSource("en16931-examples", invoices),
    PaperSource("fatturapa", invoices),
    PaperSource("gobl", invoices),
    PaperSource("invoice2data-compare", printed_invoices),
    PaperSource("mt940", swift_statements),
    PaperSource("ofx", ofx_statements),
    PaperSource("receipts-standardized", itemised_receipts),
    PaperSource("sroie", scanned_receipts),
    PaperSource("ubl-samples", invoices),
    PaperSource("xrechnung-testsuite", invoices),
    PaperSource("zugferd-corpus", invoices),
)
"""By name."""
