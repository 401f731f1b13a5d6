"""An entry becomes rows: values in canonical form, a place in the chain, a hash."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from bookkeeping.ledger.canonical import (
    VERSION,
    CanonicalFormError,
    canonical_amount,
    canonical_date,
    canonical_text,
    canonical_time,
    entry_hash,
)
from bookkeeping.ledger.currency import UnknownCurrency, currency_scales
from bookkeeping.ledger.entry import Entry, Line, Posted, PostedEntry
from bookkeeping.ledger.errors import LedgerRefusal

ENTRY_COLUMNS = (
    "book_id", "seq", "version", "key", "voucher", "document_type", "document_number", "document_date",
    "posting_date", "posted_at", "posted_by", "text", "n_lines", "prev_hash", "hash",
)  # fmt: skip
LINE_COLUMNS = (
    "book_id", "seq", "line_no", "account", "side", "amount", "currency", "document_amount",
    "document_currency", "text",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry goes in a chain: its position and the hash before it."""

    seq: int
    prev_hash: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """An entry as the rows to store (in the order of the column lists above) and the receipt for it."""

    entry_row: tuple[Any, ...]
    line_rows: tuple[tuple[Any, ...], ...]
    posted: Posted


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry in canonical form that has no place yet."""

    key: str
    voucher: str | None
    head: dict[str, Any]
    dates: tuple[date | None, date]
    lines: tuple[dict[str, Any], ...]


def draft(entry: Entry, currency: str) -> Draft:
    """Canonical form of an entry of a book in `currency`.

    Raises LedgerRefusal (unknown_currency, wrong_currency, out_of_tolerance, malformed_text) for what has no canonical
    form. All other rules are the database's to enforce.
    """
    try:
        return Draft(
            key=canonical_text(entry.key),
            voucher=None if entry.voucher is None else canonical_text(entry.voucher),
            head={
                "posted_by": canonical_text(entry.posted_by),
                "posting_date": canonical_date(entry.posting_date),
                "document_date": None if entry.document_date is None else canonical_date(entry.document_date),
                "document_type": canonical_text(entry.document_type),
                "document_number": _optional_text(entry.document_number),
                "text": canonical_text(entry.text),
            },
            dates=(entry.document_date, entry.posting_date),
            lines=tuple(_line(line, currency) for line in entry.lines),
        )
    except CanonicalFormError as error:
        raise LedgerRefusal("malformed_text", str(error)) from error


def _optional_text(text: str | None) -> str | None:
    return None if text is None else canonical_text(text)


def _line(line: Line, currency: str) -> dict[str, Any]:
    if (line.document_amount is None) != (line.document_currency is None):
        raise LedgerRefusal("wrong_currency", f"account {line.account}: document amount and currency go together")
    document_amount = line.amount if line.document_amount is None else line.document_amount
    document_currency = line.document_currency or currency
    return {
        "account": canonical_text(line.account),
        "side": canonical_text(line.side),
        "amount": _amount(line.amount, currency),
        "currency": currency,
        "document_amount": _amount(document_amount, document_currency),
        "document_currency": document_currency,
        "text": _optional_text(line.text),
    }


def _amount(amount: Decimal, currency: str) -> str:
    try:
        return canonical_amount(amount, currency)
    except UnknownCurrency as error:
        raise LedgerRefusal("unknown_currency", str(error)) from error
    except CanonicalFormError as error:
        raise LedgerRefusal("out_of_tolerance", str(error)) from error


def seal(drafted: Draft, *, book_id: int, chain: str, place: Place, posted_at: datetime) -> Sealed:
    """Numbers and hashes a draft. `posted_at` is aware; `voucher` falls back to V- and the position."""
    seq, prev_hash = place.seq, place.prev_hash
    voucher = drafted.voucher or f"V-{seq:06d}"
    payload = {
        "chain": chain,
        "version": VERSION,
        "seq": seq,
        "voucher": voucher,
        "posted_at": canonical_time(posted_at),
        **drafted.head,
        "lines": drafted.lines,
    }
    digest = entry_hash(prev_hash, payload)
    head, posted_at = drafted.head, posted_at.astimezone(UTC)
    entry_row = (
        book_id, seq, VERSION, drafted.key, voucher, head["document_type"], head["document_number"],
        *drafted.dates, posted_at, head["posted_by"], head["text"], len(drafted.lines), prev_hash, digest,
    )  # fmt: skip
    line_rows = tuple(
        (book_id, seq, line_no, line["account"], line["side"], Decimal(line["amount"]), line["currency"],
         Decimal(line["document_amount"]), line["document_currency"], line["text"])
        for line_no, line in enumerate(drafted.lines, start=1)
    )  # fmt: skip
    return Sealed(entry_row, line_rows, Posted(seq, voucher, digest, posted_at))


def stored_payload(entry: PostedEntry, *, chain: str, currencies: tuple[str, ...]) -> dict[str, Any]:
    """The payload of an entry from its stored columns; `currencies` are the stored book currencies of its lines.

    Raises CanonicalFormError or UnknownCurrency where a stored value has no canonical form.
    """
    return {
        "chain": chain,
        "version": entry.version,
        "seq": entry.seq,
        "voucher": entry.voucher,
        "posted_at": canonical_time(entry.posted_at),
        "posted_by": entry.posted_by,
        "posting_date": canonical_date(entry.posting_date),
        "document_date": None if entry.document_date is None else canonical_date(entry.document_date),
        "document_type": entry.document_type,
        "document_number": entry.document_number,
        "text": entry.text,
        "lines": [_stored_line(line, currency) for line, currency in zip(entry.lines, currencies, strict=True)],
    }


def _stored_line(line: Line, currency: str) -> dict[str, Any]:
    if line.document_amount is None or line.document_currency is None:
        raise CanonicalFormError("a stored line has its document amount and currency")
    return {
        "account": line.account,
        "side": line.side,
        "amount": canonical_amount(line.amount, currency),
        "currency": currency,
        "document_amount": canonical_amount(line.document_amount, line.document_currency),
        "document_currency": line.document_currency,
        "text": line.text,
    }


def at_scale(amount: Decimal, currency: str) -> Decimal:
    """A stored amount with exactly its currency's decimals; one that has more is returned as it is stored."""
    scale = currency_scales().get(currency)
    exponent = amount.as_tuple().exponent
    if scale is None or not isinstance(exponent, int) or -exponent > scale:
        return amount
    return amount + Decimal((0, (0,), -scale))
