"""From what is written to what it is: a record as copied from the paper, into amounts, dates and codes.

The conventions on signs are the agent's contract: on a bank statement money that comes in is positive, whatever columns
or marks the paper has; a credit note with negative totals has all its amounts turned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from bookkeeping.documents.catalogue import DocumentType
from bookkeeping.documents.currencies import minor_digits, read_currency
from bookkeeping.documents.dates import booking_date, read_date
from bookkeeping.documents.evidence import Evidence
from bookkeeping.documents.numbers import indicated_sign, read_number
from bookkeeping.documents.payload import Field, Kind
from bookkeeping.documents.unread import Unread
from bookkeeping.documents.written import plain

Value = str | Decimal | date
Cells = Mapping[str, Value]
Written = Mapping[str, str]

ACCOUNT_SCHEMA = "bank_statement"
_SIGN_COLUMNS = ("debit", "credit", "indicator")
_TOTALS = ("payable", "total", "net")


@dataclass(frozen=True, slots=True)
class UnreadField:
    """A field that was copied and could not be read; ``path`` is ``total`` or ``rows.2.amount``."""

    path: str
    unread: Unread


@dataclass(frozen=True, slots=True)
class Record:
    """One document as typed values. What the paper does not have is not in ``fields`` and not in a row."""

    fields: Cells
    rows: tuple[Cells, ...]
    unread: tuple[UnreadField, ...] = ()


def coerce(document_type: DocumentType, fields: Written, rows: Sequence[Written], evidence: Evidence) -> Record:
    """The record that the copied texts state. Names that the type does not have are left out."""
    reader = _Reader(document_type, evidence, _currency_digits(fields, evidence))
    known = document_type.payload
    found = reader.cells(fields, known.fields, "")
    table = tuple(reader.row(row, known.row_fields, number) for number, row in enumerate(rows))
    record = Record(found, tuple(row for row in table if row), tuple(reader.unread))
    return _turned(record, document_type) if document_type.is_credit else record


def _currency_digits(fields: Written, evidence: Evidence) -> int | None:
    code = read_currency(fields.get("currency", ""), evidence.mentioned)
    return minor_digits(code) if isinstance(code, str) else None


class _Reader:
    """Reads the cells of one document and keeps what it cannot read."""

    def __init__(self, document_type: DocumentType, evidence: Evidence, digits: int | None) -> None:
        self._evidence = evidence
        self._is_account = document_type.payload.name == ACCOUNT_SCHEMA
        self._amounts = evidence.numbers(digits, is_account=self._is_account)
        self._numbers = evidence.numbers()
        self.unread: list[UnreadField] = []

    def cells(self, written: Written, fields: Sequence[Field], prefix: str) -> dict[str, Value]:
        """The values by name of those fields that are not empty and can be read."""
        found: dict[str, Value] = {}
        for field in fields:
            text = written.get(field.name, "").strip()
            value = self._value(field.kind, text) if text else None
            if isinstance(value, Unread):
                self.unread.append(UnreadField(f"{prefix}{field.name}", value))
            elif value is not None:
                found[field.name] = value
        return found

    def row(self, written: Written, fields: Sequence[Field], number: int) -> dict[str, Value]:
        """The values of a row; of a movement with one signed amount, whatever the paper has."""
        if not self._is_account:
            return self.cells(written, fields, f"rows.{number}.")
        written = dict(written)
        booked = written.pop("date", "") if _is_month_and_day(written) else ""
        found = self.cells(written, fields, f"rows.{number}.")
        value_date = found.get("value_date")
        if booked and isinstance(value_date, date):
            day = booking_date(plain(booked), value_date)
            if isinstance(day, Unread):
                self.unread.append(UnreadField(f"rows.{number}.date", day))
            else:
                found["date"] = day
        return _with_signed_amount(found)

    def _value(self, kind: Kind, text: str) -> Value | Unread:
        match kind:
            case Kind.AMOUNT:
                return read_number(text, self._amounts)
            case Kind.NUMBER | Kind.RATE:
                return read_number(text, self._numbers)
            case Kind.DATE:
                return read_date(text, self._evidence.dates)
            case Kind.CURRENCY:
                return read_currency(text, self._evidence.mentioned)
            case Kind.TEXT | Kind.IDENTIFIER:
                return " ".join(text.split())


def _is_month_and_day(written: Written) -> bool:
    day = plain(written.get("date", "")).strip()
    return len(day) == 4 and day.isdecimal() and bool(written.get("value_date"))


def _with_signed_amount(found: dict[str, Value]) -> dict[str, Value]:
    """The movement with ``amount`` positive for money in and negative for money out, and no columns for the sign."""
    amount, debit, credit = (_number(found.get(name)) for name in ("amount", "debit", "credit"))
    sign = indicated_sign(str(found.get("indicator", "")))
    kept = {name: value for name, value in found.items() if name not in _SIGN_COLUMNS}
    if amount is not None and sign is not None:
        kept["amount"] = sign * abs(amount)
    elif amount is None and credit:
        kept["amount"] = credit
    elif amount is None and debit:
        kept["amount"] = -abs(debit)
    return kept


def _number(value: Value | None) -> Decimal | None:
    return value if isinstance(value, Decimal) else None


def _turned(record: Record, document_type: DocumentType) -> Record:
    """The record with all amounts turned when all of its totals are negative; mixed signs stay as printed."""
    totals = [value for name in _TOTALS if (value := _number(record.fields.get(name)))]
    if not totals or any(value > 0 for value in totals):
        return record
    payload = document_type.payload
    amounts = {item.name for item in (*payload.fields, *payload.row_fields) if item.kind is Kind.AMOUNT}
    return replace(
        record,
        fields=_negated(record.fields, amounts),
        rows=tuple(_negated(row, amounts) for row in record.rows),
    )


def _negated(cells: Cells, amounts: set[str]) -> Cells:
    return {
        name: -value if name in amounts and isinstance(value, Decimal) and value else value
        for name, value in cells.items()
    }
