"""The steps of the work on one record, each a function of the values before it and of the book."""

from dataclasses import replace

from bookkeeping.agents.bookkeeper.compute import compute
from bookkeeping.agents.bookkeeper.entry import REVERSAL, Booked, check, mirror, post
from bookkeeping.agents.bookkeeper.lines import ComputedLine
from bookkeeping.agents.bookkeeper.periods import posting_day
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


def post_history(rules: Rulebook, book: Book, terms: BookTerms, state: BookState) -> None:
    """Brings ``book`` to where ``state`` has it: posts its history, then closes what is closed.

    There is nothing to do without a history. Raises HistoryError for a record of it that is refused.
    """
    for number, record in enumerate(state.history):
        result = _work(rules, book, terms, record)
        if isinstance(result, Refused):
            raise HistoryError(f"book.history[{number}] is refused: {result.reason}: {result.explanation}")
    if state.history and state.closed_through is not None:
        book.close_through(state.closed_through)
    if state.history:
        for account in sorted(state.inactive_accounts):
            book.deactivate(account)


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
