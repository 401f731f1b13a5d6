"""Fourth and fifth step: the entry, checked against the book, and its posting."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from bookkeeping.agents.bookkeeper.identity import key_of, key_of_reversal, normal
from bookkeeping.agents.bookkeeper.lines import ComputedLine
from bookkeeping.agents.bookkeeper.results import NothingToPost, Refused, Stop
from bookkeeping.agents.bookkeeper.select import Choice
from bookkeeping.ledger import Book, Entry, LedgerRefusal, Line, Posted, PostedEntry, currency_scale

POSTED_BY: Final = "bookkeeper"
REVERSAL: Final = "reversal_voucher"
ANSWERS: Final = frozenset(
    {
        "unbalanced",
        "period_closed",
        "unknown_account",
        "inactive_account",
        "unknown_currency",
        "wrong_sign",
        "out_of_tolerance",
    }
)
"""Refusals of the ledger that say something about the record; the others are faults of ours and raise."""


@dataclass(frozen=True, slots=True)
class Booked:
    """What the ledger has after the posting: the receipt, the entry and the balances read back."""

    posted: Posted
    entry: PostedEntry
    balances: dict[str, Decimal]


def check(book: Book, choice: Choice, lines: tuple[ComputedLine, ...]) -> Entry | Stop:
    """The entry to post, unless the book has the event already (general.matching)."""
    record = choice.understood.record
    if record.evidence_for is not None and _entry_for(book, record.evidence_for) is not None:
        explanation = f"Document {record.evidence_for}, booked before, records the same event."
        return NothingToPost("already_booked", explanation)
    return _entry(book, choice, key_of(choice, lines), tuple(_ledger_line(book, choice, line) for line in lines))


def mirror(book: Book, choice: Choice) -> Entry | Refused:
    """The reversal of the entry that the record names: its lines, book and document amounts, with sides swapped."""
    number = choice.understood.record.reverses or ""
    original = _entry_for(book, number)
    if original is None:
        return Refused("missing_input", f"Document {number}, to be reversed, has no entry in this book.")
    return _entry(book, choice, key_of_reversal(original.seq), swapped(original.lines))


def swapped(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """``lines`` on the other sides, in their order."""
    return tuple(
        Line(
            line.account,
            "credit" if line.side == "debit" else "debit",
            line.amount,
            line.document_amount,
            line.document_currency,
            line.text,
        )
        for line in lines
    )


def post(book: Book, choice: Choice, entry: Entry) -> Booked | Stop:
    """Posts ``entry`` and reads it back. What the ledger refuses of a record is a refusal, all else raises."""
    try:
        posted = book.post(entry)
    except LedgerRefusal as refusal:
        if refusal.code not in ANSWERS:
            raise
        return Refused(refusal.code, f"The ledger refuses the entry: {refusal.message}.")
    if posted.duplicate:
        return _posted_before(book, choice, entry)
    return Booked(posted, book.entries([posted.seq])[0], book.balances([posted.seq]))


def _posted_before(book: Book, choice: Choice, entry: Entry) -> Stop:
    """The same record again is a duplicate; another document for the same movement of money is matched to it."""
    first = book.entry_of(entry.key)
    is_movement = choice.understood.record.movement is not None
    if is_movement and first is not None and first.document_type != entry.document_type:
        explanation = f"The movement is booked already, by {first.document_type} {first.document_number}."
        return NothingToPost("already_booked", explanation)
    return Refused("duplicate", f"Posted before: {entry.document_type} {entry.document_number or ''}".rstrip() + ".")


def _entry_for(book: Book, number: str) -> PostedEntry | None:
    """The first entry with the document ``number``: the one that booked it, before any reversal of it."""
    return next(iter(book.entries_of_document(normal(number))), None)


def _entry(book: Book, choice: Choice, key: str, lines: tuple[Line, ...]) -> Entry:
    record = choice.understood.record
    return Entry(
        key=key,
        document_type=choice.understood.record.doc_type,
        document_number=normal(record.number) if record.number else None,
        document_date=record.date,
        posting_date=choice.understood.posting_date,
        posted_by=POSTED_BY,
        text=normal(record.text) if record.text else f"{choice.name} for {book.company}",
        lines=lines,
    )


def _ledger_line(book: Book, choice: Choice, line: ComputedLine) -> Line:
    understood = choice.understood
    is_kept = line.document_amount is not None and understood.is_foreign
    scale = currency_scale(book.currency)
    return Line(
        account=line.account,
        side=line.side,
        amount=as_decimal(line.amount, scale),
        document_amount=as_decimal(abs(line.document_amount or Fraction(0)), understood.scale) if is_kept else None,
        document_currency=understood.currency if is_kept else None,
        text=normal(line.text) if line.text else None,
    )


def as_decimal(value: Fraction, scale: int) -> Decimal:
    """``value``, which has at most ``scale`` decimals, as a Decimal with exactly that many. Raises ValueError else."""
    units = value * 10**scale
    if units.denominator != 1:
        raise ValueError(f"{value} has more than {scale} decimals")
    return Decimal(units.numerator).scaleb(-scale)
