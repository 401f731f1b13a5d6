"""A double-entry ledger in Postgres that refuses what is wrong.

    from bookkeeping.ledger import BookSpec, Entry, Ledger, Line, LedgerRefusal

    with Ledger.connect(url) as ledger:
        ledger.migrate()                                   # idempotent; a current database costs two queries
        book = ledger.create_book(BookSpec("larch", "Larch Trading Ltd", "EUR", "Europe/Berlin",
                                           open_from=date(2026, 1, 1), open_to=date(2026, 12, 31)))
        posted = book.post(Entry(
            key="received:invoice:birch & co:R-2031:2026-03-04:", document_type="supplier_invoice",
            document_number="R-2031", document_date=date(2026, 3, 4), posting_date=date(2026, 3, 4),
            posted_by="bookkeeper", text="rent March",
            lines=(Line("6110", "debit", Decimal("1000.00")), Line("1410", "debit", Decimal("190.00")),
                   Line("2010", "credit", Decimal("1190.00")))))
        book.lines(posted.seq)                             # read back, amounts at their currency's scale
        book.balances([posted.seq])                        # {"1410": 190.00, "2010": -1190.00, "6110": 1000.00}

Posting a key again returns the first receipt with duplicate=True. What the database refuses is a LedgerRefusal with
a code (errors.py has the table); after it nothing of the entry is in the book. Eval books (kind="eval") need the
harness's marker (`Ledger.set_marker`) and are dropped with `Ledger.drop_book`.

The hash chain's canonical form is specified in canonical.py. This module imports no database driver until Ledger or
Book is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bookkeeping.ledger.book_spec import BookSpec, Period
from bookkeeping.ledger.currency import UnknownCurrency, currency_scale
from bookkeeping.ledger.entry import Entry, Line, Posted, PostedEntry
from bookkeeping.ledger.errors import LedgerError, LedgerRefusal, LedgerUnavailable

if TYPE_CHECKING:
    from bookkeeping.ledger.book import Book
    from bookkeeping.ledger.chain import ChainReport
    from bookkeeping.ledger.ledger import Ledger

__all__ = [
    "Book",
    "BookSpec",
    "ChainReport",
    "Entry",
    "Ledger",
    "LedgerError",
    "LedgerRefusal",
    "LedgerUnavailable",
    "Line",
    "Period",
    "Posted",
    "PostedEntry",
    "UnknownCurrency",
    "currency_scale",
]

_LATE = {"Book": "book", "ChainReport": "chain", "Ledger": "ledger"}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
