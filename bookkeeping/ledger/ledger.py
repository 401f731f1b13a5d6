"""The ledger: a database of books."""

import uuid
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self
from zoneinfo import ZoneInfo

from bookkeeping.ledger.book import Book
from bookkeeping.ledger.book_spec import BookSpec
from bookkeeping.ledger.canonical import CanonicalFormError, canonical_text
from bookkeeping.ledger.chart import chart_digest
from bookkeeping.ledger.connection import Connection, Database
from bookkeeping.ledger.errors import LedgerError, LedgerRefusal
from bookkeeping.ledger.lease import Leases
from bookkeeping.ledger.posting import Clock, transaction

_BOOK_COLUMNS = "book_id, chain, company, currency, time_zone, kind"
_CREATE = f"""
    WITH book AS (
        INSERT INTO ledger.books (chain, company, currency, time_zone, chart_id, kind, owner)
        SELECT %(chain)s, %(company)s, %(currency)s, %(time_zone)s, chart_id, %(kind)s, %(owner)s
          FROM ledger.charts WHERE digest = %(chart)s
        RETURNING *
    ), months AS (
        INSERT INTO ledger.periods (book_id, first_day, closed_at)
        SELECT book_id, month::date, CASE WHEN month <= %(closed_through)s::date THEN %(now)s::timestamptz END
          FROM book, generate_series(date_trunc('month', %(open_from)s::timestamp), %(open_to)s::timestamp,
                                     interval '1 month') AS month
    ), inactive AS (
        INSERT INTO ledger.inactive_accounts (book_id, chart_id, code)
        SELECT book_id, chart_id, code FROM book, unnest(%(inactive)s::text[]) AS code
    )
    SELECT {_BOOK_COLUMNS} FROM book
"""  # noqa: S608 - column names of this module, no input
_OPEN = f"SELECT {_BOOK_COLUMNS} FROM ledger.books WHERE chain = %s"  # noqa: S608 - as above
_DROP_ABANDONED = """
    WITH abandoned AS MATERIALIZED (
        SELECT owner FROM (SELECT DISTINCT owner FROM ledger.books WHERE kind = 'eval') owners
         WHERE pg_try_advisory_xact_lock(ledger.lease_of(owner))
    )
    SELECT ledger.drop_books(array_agg(book_id)) FROM ledger.books JOIN abandoned USING (owner) WHERE kind = 'eval'
"""


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


class Ledger:
    """A database of books, safe to use from several threads; not to be carried over a fork.

    with Ledger.connect(url) as ledger:
        ledger.migrate()
        book = ledger.create_book(BookSpec(...))

    Every method raises LedgerUnavailable when the database is gone, and LedgerError when it is not migrated.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._leases = Leases(database.conninfo, database.host_port)
        self._owner = f"ledger-{uuid.uuid4()}"

    @classmethod
    def connect(cls, url: str, *, pool_size: int = 8, clock: Clock = utc_now) -> Self:
        """Connects to a database by its URL (postgresql://, with or without a +driver suffix).

        `clock` gives posted_at and is injected by tests. Raises LedgerUnavailable within seconds when nothing
        answers, ValueError for what is not a Postgres URL.
        """
        return cls(Database(url, pool_size), clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes every connection and gives up the leases of this object's eval books."""
        self._leases.close()
        self._database.close()

    def migrate(self) -> None:
        """Brings the schema to this code's version. Safe to call always, and from several processes at once.

        Raises LedgerError when the database user lacks a right that it needs, with what to do about it.
        """
        from bookkeeping.ledger.migrate import migrate

        with self._database.connection() as connection:
            migrate(connection, self._database.conninfo)

    def create_book(self, spec: BookSpec) -> Book:
        """Opens a book in one round trip. Raises LedgerRefusal (see errors)."""
        owner = (spec.owner or self._owner) if spec.kind == "eval" else None
        parameters = _parameters(spec, owner, self._clock())
        if owner is not None:
            self._leases.hold(owner)
        with (
            self._database.connection() as connection,
            transaction(connection, pipelined=True, durable=spec.kind == "live"),
        ):
            row = connection.execute(_CREATE, parameters).fetchone()
        if row is None:
            raise LedgerError("the database does not have this code's chart of accounts: run migrate()")
        return self._book(row)

    def open_book(self, chain: str) -> Book:
        """The book with this chain. Raises LedgerRefusal unknown_book."""
        with self._database.connection() as connection:
            row = connection.execute(_OPEN, [canonical_text(chain)]).fetchone()
        if row is None:
            raise LedgerRefusal("unknown_book", f"there is no book {chain!r}")
        return self._book(row)

    def drop_book(self, book: Book) -> None:
        """Drops an eval book with all that is in it.

        Raises LedgerRefusal posted_is_final for a live book, or where the harness's marker is not.
        """
        with self._database.connection() as connection, transaction(connection, pipelined=True, durable=False):
            connection.execute("SELECT ledger.drop_books(%s)", [[book.book_id]])

    def drop_abandoned_books(self) -> int:
        """Drops the eval books whose owner's sessions are gone; returns how many."""
        with self._database.connection() as connection, connection.transaction():
            row = connection.execute(_DROP_ABANDONED).fetchone()
        return row[0] if row and row[0] else 0

    def set_marker(self) -> None:
        """Gives the database to the evaluation harness, for eval books alone.

        Raises LedgerRefusal live_books for a database that holds live books.
        """
        with self._database.connection() as connection:
            connection.execute("INSERT INTO ledger.harness_marker DEFAULT VALUES ON CONFLICT DO NOTHING")

    def has_marker(self) -> bool:
        """Whether the database carries the evaluation harness's marker; False where there is no ledger yet."""
        with self._database.connection() as connection:
            return _has_marker(connection)

    def _book(self, row: tuple[Any, ...]) -> Book:
        book_id, chain, company, currency, time_zone, kind = row
        return Book(book_id, chain, company, currency, time_zone, kind, self._database, self._clock)


def _has_marker(connection: Connection) -> bool:
    found = connection.execute("SELECT to_regclass('ledger.harness_marker')").fetchone()
    if found is None or found[0] is None:
        return False
    row = connection.execute("SELECT EXISTS (SELECT 1 FROM ledger.harness_marker)").fetchone()
    return bool(row and row[0])


def _parameters(spec: BookSpec, owner: str | None, now: datetime) -> dict[str, Any]:
    try:
        ZoneInfo(spec.time_zone)
        chain, company = canonical_text(spec.chain), canonical_text(spec.company)
    except CanonicalFormError as error:
        raise LedgerRefusal("malformed_text", str(error)) from error
    except (LookupError, ValueError, OSError) as error:
        raise LedgerRefusal("unknown_time_zone", f"{spec.time_zone!r} is not an IANA time zone") from error
    return {
        "chain": chain, "company": company, "currency": spec.currency, "time_zone": spec.time_zone,
        "kind": spec.kind, "owner": owner, "chart": chart_digest(), "now": now,
        "open_from": spec.open_from, "open_to": spec.open_to, "closed_through": spec.closed_through,
        "inactive": sorted(spec.inactive_accounts),
    }  # fmt: skip
