"""The first step: which book is audited, what it keeps, and what is material in it."""

from dataclasses import dataclass
from decimal import Decimal

from bookkeeping.agents.auditor.catalogue import materiality_floor
from bookkeeping.agents.auditor.inputs import Run
from bookkeeping.agents.auditor.reading import Session
from bookkeeping.ledger.currency import currency_scale
from bookkeeping.ledger.errors import LedgerRefusal

_BOOK = """
    SELECT b.book_id, b.chain, b.company, b.currency, b.time_zone, s.country, s.kept
      FROM ledger.books b LEFT JOIN subledger.books s USING (book_id) WHERE b.chain = %(chain)s
"""
# One per cent of the year's expense; closing vouchers would hide it.
_EXPENSE = """
    SELECT coalesce(sum(CASE l.side WHEN 'debit' THEN l.amount ELSE -l.amount END), 0)
      FROM ledger.entries e
      JOIN ledger.lines l USING (book_id, seq)
      JOIN ledger.books b USING (book_id)
      JOIN ledger.accounts a ON a.chart_id = b.chart_id AND a.code = l.account AND a.type = 'expense'
     WHERE e.book_id = %(book_id)s AND e.posting_date BETWEEN %(first_day)s AND %(last_day)s
       AND e.document_type <> 'year_end_closing'
"""


@dataclass(frozen=True, slots=True)
class AuditedBook:
    """A book as an audit sees it. ``kept`` names the records that it keeps beside its journal."""

    book_id: int
    chain: str
    company: str
    currency: str
    scale: int
    time_zone: str
    country: str | None
    kept: frozenset[str]
    materiality: Decimal


def load(session: Session, chain: str, run: Run) -> AuditedBook:
    """Finds the book. Raises LedgerRefusal unknown_book."""
    _, rows = session.rows(_BOOK, {"chain": chain})
    if not rows:
        raise LedgerRefusal("unknown_book", f"there is no book {chain!r}")
    book_id, chain, company, currency, time_zone, country, kept = rows[0]
    scale = currency_scale(currency)
    material = run.materiality
    if material is None:
        year = {"book_id": book_id, "first_day": run.first_day, "last_day": run.last_day}
        _, [(expense,)] = session.rows(_EXPENSE, year)
        material = max(expense / 100, Decimal(materiality_floor(scale)))
    rounded = round(material, scale) if scale else Decimal(round(material))
    return AuditedBook(book_id, chain, company, currency, scale, time_zone, country, frozenset(kept or ()), rounded)
