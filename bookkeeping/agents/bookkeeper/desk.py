"""The steps of the work on one record, each a function of the values before it and of the book."""

from dataclasses import replace
from datetime import date

from bookkeeping.agents.bookkeeper.accrual_reversals import post_due_reversals
from bookkeeping.agents.bookkeeper.compute import compute
from bookkeeping.agents.bookkeeper.entry import REVERSAL, Booked, check, mirror, post
from bookkeeping.agents.bookkeeper.lines import ComputedLine
from bookkeeping.agents.bookkeeper.periods import first_day_of_next_month, posting_day
from bookkeeping.agents.bookkeeper.record import BookState, Record
from bookkeeping.agents.bookkeeper.results import Refused, Stop
from bookkeeping.agents.bookkeeper.rules import Rulebook
from bookkeeping.agents.bookkeeper.select import Choice, select
from bookkeeping.agents.bookkeeper.understanding import BookTerms, Understood, understand
from bookkeeping.ledger import Book, Entry

Lines = tuple[ComputedLine, ...]


class HistoryError(ValueError):
    """A record of the book's history that is refused: the caller describes a book that cannot be."""


def understood_on_its_day(rules: Rulebook, book: Book, terms: BookTerms, record: Record) -> Understood | Refused:
    """The record in the terms of the rules, with the day on which it is booked."""
    understood = understand(rules, terms, record)
    if isinstance(understood, Refused):
        return understood
    day = posting_day(book, record)
    return day if isinstance(day, Refused) else replace(understood, posting_date=day)


def lines_of(rules: Rulebook, choice: Choice) -> Lines | Stop:
    """The lines of the treatment; none yet for a reversal that takes them from the entry it reverses."""
    if choice.understood.record.reverses is None:
        return compute(rules, choice)
    if choice.rule.doc_type != REVERSAL:
        return Refused("unsupported_combination", f"A {choice.rule.doc_type} does not reverse an entry.")
    return ()


def entry_of(book: Book, choice: Choice, lines: Lines) -> Entry | Stop:
    """The entry to post."""
    return check(book, choice, lines) if choice.understood.record.reverses is None else mirror(book, choice)


def post_history(rules: Rulebook, book: Book, terms: BookTerms, state: BookState, record: Record) -> None:
    """Brings ``book`` to where it stands when ``record`` arrives: posts its history, then closes what is closed.

    Accruals and revaluations of the history are reversed on the first day of their next period, as far as the book has
    that period and the record, or the closing of the period before, shows that it has begun. There is nothing to do
    without a history. Raises HistoryError for a record of it that is refused.
    """
    for number, past in enumerate(state.history):
        result = _work(rules, book, terms, past)
        if isinstance(result, Refused):
            raise HistoryError(f"book.history[{number}] is refused: {result.reason}: {result.explanation}")
    if any(_is_reversed(rules, past) for past in state.history):
        post_due_reversals(rules, book, _latest_begun(state, record))
    if state.history and state.closed_through is not None:
        book.close_through(state.closed_through)
    if state.history:
        for account in sorted(state.inactive_accounts):
            book.deactivate(account)


def _is_reversed(rules: Rulebook, past: Record) -> bool:
    rule = rules.rules.get(past.doc_type)
    return rule is not None and rule.reversed_next_period


def _latest_begun(state: BookState, record: Record) -> date:
    """A day in the latest period that has begun: that of the record, or the one after what is closed."""
    days = [record.posting_date or record.date or state.open_from]
    if state.closed_through is not None:
        days.append(first_day_of_next_month(state.closed_through))
    return min(max(days), state.open_to)


def _work(rules: Rulebook, book: Book, terms: BookTerms, record: Record) -> Booked | Stop:
    understood = understood_on_its_day(rules, book, terms, record)
    if isinstance(understood, Refused):
        return understood
    choice = select(rules, understood)
    if not isinstance(choice, Choice):
        return choice
    lines = lines_of(rules, choice)
    if not isinstance(lines, tuple):
        return lines
    entry = entry_of(book, choice, lines)
    return post(book, choice, entry) if isinstance(entry, Entry) else entry
