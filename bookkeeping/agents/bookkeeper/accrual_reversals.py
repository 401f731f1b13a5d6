"""Accruals and revaluations are reversed on the first day of the next period (general.reversal).

The record of an accrual gives rise to one entry. Its reversal is another posting, on another day, in a period that may
not be open yet when the accrual is booked (at the end of a year it never is): ``post_due_reversals`` makes it. It has
the key of a reversal voucher for the same entry, so whoever comes second posts nothing, and it may be called any time.

Who calls it: whoever opens a period of a live book, before the period before is closed and before its first record
(the graph looks at one record and does not go through the book for others that are due); for a book that is described
by its history, the Bookkeeper itself (desk.post_history).

    post_due_reversals(rulebook(), book, date(2026, 4, 1))
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from bookkeeping.agents.bookkeeper.entry import POSTED_BY, REVERSAL, swapped
from bookkeeping.agents.bookkeeper.identity import key_of_reversal
from bookkeeping.agents.bookkeeper.periods import first_day_of_next_month
from bookkeeping.agents.bookkeeper.rules import Rulebook
from bookkeeping.ledger import Book, Entry, Posted, PostedEntry

BANK_BALANCES: Final = frozenset({"1040", "1050"})
"""Revaluations of these stay: they are not settled, so nothing compares with their booked rate."""


def due_reversals(rules: Rulebook, entries: Iterable[PostedEntry], today: date) -> Iterator[Entry]:
    """The reversals that are due on ``today`` and not among ``entries`` yet, dated the first day of their period."""
    known = tuple(entries)
    keys = {entry.key for entry in known}
    for entry in known:
        rule = rules.rules.get(entry.document_type)
        first_day = first_day_of_next_month(entry.posting_date)
        if rule is None or not rule.reversed_next_period or first_day > today:
            continue
        if any(line.account in BANK_BALANCES for line in entry.lines):
            continue
        reversal = _reversal(entry, first_day)
        if reversal.key not in keys:
            yield reversal


def post_due_reversals(rules: Rulebook, book: Book, today: date) -> tuple[Posted, ...]:
    """Posts what ``due_reversals`` finds in ``book``, all or none. Raises LedgerRefusal where a period is closed."""
    return book.post_many(due_reversals(rules, book.entries(), today))


def _reversal(entry: PostedEntry, first_day: date) -> Entry:
    return Entry(
        key=key_of_reversal(entry.seq),
        document_type=REVERSAL,
        document_number=entry.document_number,
        document_date=first_day,
        posting_date=first_day,
        posted_by=POSTED_BY,
        text=f"Reversal of {entry.voucher}: {entry.text}",
        lines=swapped(entry.lines),
    )
