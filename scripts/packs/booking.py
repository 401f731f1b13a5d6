"""What an accountant expects in the ledger for a stated document.

The expectation is worked out from the totals that the document states. The posting rules play no part.
"""

from collections.abc import Iterator
from typing import Any

from scripts.packs.expectation import (
    BANK,
    RECEIVABLE,
    TAX_CREDIT,
    Booked,
    amount_text,
    book,
    posted,
    scale_of,
)
from scripts.packs.sides import buyer_side, supplier_side
from scripts.packs.stated import Invoice, NoEntry, Receipt, Stated, WithholdingCertificate


def booked(document: Stated) -> Iterator[Booked]:
    """The examples that ``document`` makes: an invoice one for each side. Raises CannotConvert."""
    match document:
        case Invoice():
            yield buyer_side(document)
            yield supplier_side(document)
        case Receipt():
            yield _receipt(document)
        case WithholdingCertificate():
            yield _certificate(document)
        case NoEntry():
            yield _no_entry(document)


def _receipt(document: Receipt) -> Booked:
    scale = scale_of(document.currency)
    record: dict[str, Any] = {
        "doc_type": "payment_receipt",
        "number": document.number,
        "date": document.date.isoformat(),
        "issuer": document.recipient,
        "event": f"payment {document.position}",
        "amounts": {"amount": amount_text(document.amount, scale)},
        "categories": {"money": "bank"},
    }
    lines = [(BANK, document.amount), (RECEIVABLE, -document.amount)]
    inputs = {"book": book(document.recipient, document.currency, document.date.year), "record": record}
    return Booked(f"payment-{document.position}", inputs, posted(lines, document.date, scale), ("payment",))


def _certificate(document: WithholdingCertificate) -> Booked:
    scale = scale_of(document.currency)
    record: dict[str, Any] = {
        "doc_type": "withholding_tax_certificate",
        "number": document.number,
        "date": document.date.isoformat(),
        "issuer": document.payer,
        "amounts": {"amount": amount_text(document.withheld, scale)},
    }
    lines = [(TAX_CREDIT, document.withheld), (RECEIVABLE, -document.withheld)]
    inputs = {"book": book(document.payee, document.currency, document.date.year), "record": record}
    return Booked("received", inputs, posted(lines, document.date, scale), ("withholding_tax",))


def _no_entry(document: NoEntry) -> Booked:
    record = {"doc_type": document.doc_type, "number": document.number, "date": document.date.isoformat()}
    inputs = {"book": book(document.company, "EUR", document.date.year), "record": record}
    expected = {"status": "refused", "reason": "non_posting_type", "n_entries": 0, "n_lines": 0}
    return Booked("received", inputs, expected, ("refusal",))
