"""Entries and their lines, before and after posting."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

Side = Literal["debit", "credit"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an entry.

    `amount` is in the book's currency and above zero. `document_amount` is what the document states, in
    `document_currency`; both None means that the document is in the book's currency and states `amount`. It may be
    zero where only the book's currency moves (revaluation, residual of a conversion). Lines read back from the
    ledger carry all fields, amounts with exactly the decimals of their currency.
    """

    account: str
    side: Side
    amount: Decimal
    document_amount: Decimal | None = None
    document_currency: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One balanced entry to post.

    `key` is the idempotency key of the source document in its book. `posting_date` decides the period, in the
    book's time zone. `voucher` is the voucher number; None lets the ledger draw `V-000017` from the position 17
    in the chain.
    """

    key: str
    document_type: str
    document_number: str | None
    document_date: date | None
    posting_date: date
    posted_by: str
    text: str
    lines: tuple[Line, ...]
    voucher: str | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """Receipt of a posting: position in the chain, voucher number, hash (64 lower-case hex digits), time in UTC.

    `duplicate` is true when the key was posted before: the other fields are those of the first posting.
    """

    seq: int
    voucher: str
    hash: str
    posted_at: datetime
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class PostedEntry:
    """An entry read back from the ledger's stored columns, lines in ledger order, times in UTC."""

    seq: int
    version: int
    voucher: str
    key: str
    document_type: str
    document_number: str | None
    document_date: date | None
    posting_date: date
    posted_at: datetime
    posted_by: str
    text: str
    prev_hash: str
    hash: str
    lines: tuple[Line, ...]
