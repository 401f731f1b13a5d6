"""The books of the Auditor's examples.

An example's inputs are ``builder`` (a name below), its ``parameters``, ``anchors`` (positions of which anchors are
taken before the book is tampered with, or null), ``tamper`` (operations of tamper.py, in their order) and ``run`` (the
audit's own parameters). Everything is a function of the inputs: the same inputs give the same book.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from bookkeeping.ledger import Book, BookSpec

from . import amounts, clean, company, simple
from .draft import Draft, only
from .tamper import tampered
from .write import sealed_rows, write

BUILDERS: Mapping[str, Callable[[Mapping[str, Any]], Draft]] = {
    "simple": simple.draft,
    "company": company.draft,
    "amounts": amounts.draft,
    "clean": clean.draft,
}
ANCHORED_AT = datetime(2026, 1, 2, 6, 0, tzinfo=UTC)


def draft(inputs: Mapping[str, Any]) -> Draft:
    """The book of an example. Raises KeyError for a builder that there is not, ValueError for an unknown parameter."""
    only(inputs, "builder", "parameters", "anchors", "tamper", "run")
    return BUILDERS[inputs["builder"]](inputs["parameters"])


def book_spec(made: Draft, chain: str) -> BookSpec:
    """How the book is opened: all periods of its years, open."""
    years = [item.entry.posting_date.year for item in made.entries] or [2025]
    return BookSpec(
        chain,
        made.company,
        made.currency,
        made.time_zone,
        date(min(years), 1, 1),
        date(max(years), 12, 31),
        kind="eval",
    )


def write_book(connection: Any, book: Book, made: Draft, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Writes the book as it ends up; returns the anchors that were taken before it was tampered with."""
    rows = sealed_rows(made, book)
    anchors = [
        {"chain": book.chain, "seq": seq, "hash": rows[seq - 1].head["hash"], "time": ANCHORED_AT.isoformat()}
        for seq in inputs.get("anchors") or ()
    ]
    write(connection, book, made, tampered(rows, book.chain, inputs.get("tamper", ())))
    return anchors
