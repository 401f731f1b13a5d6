"""On which day a record is booked (general.period)."""

from datetime import date

from bookkeeping.agents.bookkeeper.record import Record
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.ledger import Book


def posting_day(book: Book, record: Record) -> date | Refused:
    """The posting date that the record states, else the document date.

    A stated one in a closed period, or in none, is refused; a document date there moves to the first day of the next
    open period, and is refused where there is none.
    """
    wanted = record.posting_date or record.date
    if wanted is None:
        return Refused("missing_input", "The record has neither a posting date nor a document date.")
    day = book.next_open_day(wanted)
    if day is None:
        return Refused("period_closed", f"No period is open on {wanted} or after it.")
    if record.posting_date is not None and day != record.posting_date:
        return Refused("period_closed", f"The stated posting date {record.posting_date} is in a closed period.")
    return day


def ends_after_month_of(posting_date: date, end: date) -> bool:
    """Whether a service that ends on ``end`` goes on after the month in which it is booked."""
    return (end.year, end.month) > (posting_date.year, posting_date.month)


def first_day_of_next_month(day: date) -> date:
    """The first day of the period after the one with ``day``."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)
