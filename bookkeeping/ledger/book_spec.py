"""What a book is when it is opened, and its fiscal periods."""

from dataclasses import dataclass, field
from datetime import date
from typing import Literal


@dataclass(frozen=True, slots=True)
class BookSpec:
    """A book to create.

    chain             name of the book's hash chain, unique in the database; part of every hash
    company           whose book it is
    currency          ISO 4217 code; every amount of the book has this currency's decimals
    time_zone         IANA name; the zone in which days are reckoned
    open_from/open_to fiscal periods are calendar months: all months that touch this span exist
    closed_through    the months up to and including the one with this day are closed from the start
    inactive_accounts accounts of the chart that are closed for posting in this book
    kind              "eval" books are throw-away and exist only where the harness's marker is; "live" is all else
    owner             eval only: the name of whoever drops the book (a run); None is this Ledger object. An
                      owner is alive while any Ledger object that created a book for it is open
    """

    chain: str
    company: str
    currency: str
    time_zone: str
    open_from: date
    open_to: date
    closed_through: date | None = None
    inactive_accounts: frozenset[str] = field(default_factory=frozenset)
    kind: Literal["live", "eval"] = "live"
    owner: str | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for a span that ends before it begins, and for a live book with an owner."""
        if self.open_to < self.open_from:
            raise ValueError(f"the book's span ends on {self.open_to}, before it begins on {self.open_from}")
        if self.owner is not None and self.kind != "eval":
            raise ValueError("only an eval book has an owner")


@dataclass(frozen=True, slots=True)
class Period:
    """One fiscal period, a calendar month. No line is posted in a closed one."""

    first_day: date
    last_day: date
    is_closed: bool
