"""Books and entries with good defaults; a test names only what it is about."""

import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from bookkeeping.ledger import BookSpec, Entry, Line

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)
MARCH_4 = date(2026, 3, 4)


def a_spec(**changes: Any) -> BookSpec:
    """A euro book of the year 2026, everything open."""
    fields = {
        "chain": f"book-{uuid.uuid4().hex[:12]}",
        "company": "Larch Trading Ltd",
        "currency": "EUR",
        "time_zone": "Europe/Berlin",
        "open_from": date(2026, 1, 1),
        "open_to": date(2026, 12, 31),
    }
    return BookSpec(**(fields | changes))


def debit(account: str, amount: str, *document: str, text: str | None = None) -> Line:
    """A debit line; `document` is document amount and currency."""
    return _line(account, "debit", amount, document, text)


def credit(account: str, amount: str, *document: str, text: str | None = None) -> Line:
    """A credit line; `document` is document amount and currency."""
    return _line(account, "credit", amount, document, text)


def _line(account: str, side: Any, amount: str, document: tuple[str, ...], text: str | None) -> Line:
    stated = (Decimal(document[0]), document[1]) if document else (None, None)
    return Line(account, side, Decimal(amount), *stated, text=text)


RENT = (debit("6110", "1000.00"), debit("1410", "190.00"), credit("2010", "1190.00"))


def an_entry(*lines: Line, **changes: Any) -> Entry:
    """A supplier's invoice of 4 March 2026, for rent unless lines are given."""
    fields = {
        "key": f"key-{uuid.uuid4().hex}",
        "document_type": "supplier_invoice",
        "document_number": "R-2031",
        "document_date": MARCH_4,
        "posting_date": MARCH_4,
        "posted_by": "bookkeeper",
        "text": "rent for March",
        "lines": lines or RENT,
    }
    return Entry(**(fields | changes))
