"""A book before it is written: entries, and the records that the book keeps beside its journal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from bookkeeping.ledger import Entry, Line

RECORDS = (
    "vouchers", "attachments", "users", "events", "parties", "employees", "documents", "document_lines",
    "document_taxes", "tax_rates", "payments", "open_items", "balances", "holidays", "stock_moves", "orders",
    "receipts", "statements", "statement_lines",
)  # fmt: skip
"""What a book may keep, by the name of its table in the schema subledger."""


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """An entry with the time at which it is posted; its place in the book is its position in the draft."""

    entry: Entry
    posted_at: datetime


@dataclass
class Draft:
    """A book to be written. ``kept`` names the records that it keeps; ``closed`` has the lock time by first day."""

    company: str = "Larch Trading Ltd"
    currency: str = "EUR"
    time_zone: str = "Europe/Berlin"
    country: str = "DE"
    entries: list[DraftEntry] = field(default_factory=list)
    records: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {name: [] for name in RECORDS})
    kept: tuple[str, ...] = RECORDS
    closed: dict[date, datetime] = field(default_factory=dict)

    @property
    def next_seq(self) -> int:
        """The place of the next entry."""
        return len(self.entries) + 1

    def add(self, entry: Entry, posted_at: datetime, **voucher: Any) -> int:
        """Puts an entry at the end with what is known of it (columns of subledger.vouchers); returns its place."""
        seq = self.next_seq
        self.entries.append(DraftEntry(entry, posted_at))
        self.records["vouchers"].append({"seq": seq, "source": "subledger", **voucher})
        return seq

    def record(self, table: str, **columns: Any) -> None:
        """Adds a row to what the book keeps."""
        self.records[table].append(columns)

    def event(self, kind: str, at: datetime, user_id: str, **columns: Any) -> None:
        """Adds an event, numbered by its place."""
        self.record("events", event_no=len(self.records["events"]) + 1, kind=kind, at=at, user_id=user_id, **columns)

    def balance(self, account: str) -> Decimal:
        """Debits less credits of an account."""
        return sum((signed(line) for item in self.entries for line in item.entry.lines if line.account == account),
                   Decimal(0))  # fmt: skip

    def balances(self) -> dict[str, Decimal]:
        """Debits less credits of every account."""
        totals: dict[str, Decimal] = {}
        for item in self.entries:
            for line in item.entry.lines:
                totals[line.account] = totals.get(line.account, Decimal(0)) + signed(line)
        return totals


def signed(line: Line) -> Decimal:
    """A line's amount, debit positive."""
    return line.amount if line.side == "debit" else -line.amount


def at(day: date, clock: str = "10:00", zone: str = "Europe/Berlin") -> datetime:
    """The point in time that a clock in a zone shows, in UTC."""
    return datetime.combine(day, time.fromisoformat(clock), ZoneInfo(zone)).astimezone(UTC)


def lines(text: str) -> tuple[Line, ...]:
    """Lines from text such as ``6110 D 100.00, 2010 C 100.00 "rent"``; an amount in another currency than the book's
    stands behind the first: ``1110 D 92.15 (15000 JPY)``.
    """
    return tuple(_line(part.strip()) for part in text.split(","))


def _line(text: str) -> Line:
    head, _, told = text.partition('"')
    account, side, amount, *document = head.split()
    stated = (Decimal(document[0].strip("(")), document[1].strip(")")) if document else (None, None)
    return Line(account, {"D": "debit", "C": "credit"}[side], Decimal(amount), *stated, text=told.rstrip('"') or None)


def entry(document_type: str, on: date, booked: Iterable[Line], **changes: Any) -> Entry:
    """An entry with good defaults."""
    fields: dict[str, Any] = {
        "key": "", "document_type": document_type, "document_number": None, "document_date": on, "posting_date": on,
        "posted_by": "U1", "text": document_type.replace("_", " "), "lines": tuple(booked),
    }  # fmt: skip
    return Entry(**(fields | changes))


def numbered(draft: Draft) -> list[DraftEntry]:
    """The entries with a key of their own each."""
    return [
        replace(item, entry=replace(item.entry, key=item.entry.key or f"entry-{seq}"))
        for seq, item in enumerate(draft.entries, 1)
    ]


def only(mapping: Mapping[str, Any], *allowed: str) -> Mapping[str, Any]:
    """The mapping itself; raises ValueError for a key that a builder does not know, so that no typo plants nothing."""
    unknown = set(mapping) - set(allowed)
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(allowed)}")
    return mapping
