"""Reading a book, and nothing else: the role with SELECT alone, in read-only transactions over one snapshot.

    with Reader(url) as reader, reader.snapshot() as snapshot:
        with snapshot.session() as session:
            session.execute("SELECT ...")

Every session of a snapshot sees the database as it was when the snapshot was taken, whatever is posted meanwhile, so
checks can run side by side and still speak of one state (pg_export_snapshot).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool

from bookkeeping.ledger.connection import connect, host_port, libpq_conninfo
from bookkeeping.ledger.errors import database_errors

ROLE = "ledger_reader"
N_SESSIONS = 4
N_SNAPSHOTS = 32
_WAIT_S = 600

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Session:
    """A transaction that reads one snapshot. Not to be shared by threads."""

    connection: Connection

    def rows(self, statement: str, parameters: Mapping[str, Any]) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Runs a statement of this package; returns the names of its columns and its rows."""
        cursor = self.connection.execute(statement.encode(), parameters)
        return [column.name for column in cursor.description or ()], cursor.fetchall()

    @contextmanager
    def stream(self, name: str, statement: str, parameters: Mapping[str, Any], size: int) -> Iterator[Iterator[Any]]:
        """The rows of a statement through a server-side cursor, in pages of ``size`` rows."""
        with self.connection.cursor(name) as cursor:
            cursor.execute(statement.encode(), parameters)
            yield iter(lambda: cursor.fetchmany(size), [])


class Snapshot:
    """One state of the database, open to any number of sessions."""

    def __init__(self, name: str, reader: "Reader") -> None:
        self._name = name
        self._reader = reader

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Lends a session to this thread; waits when all are lent."""
        with self._reader.sessions() as connection, connection.transaction():
            _begin(connection)
            connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(self._name)))
            yield Session(connection)


class Reader:
    """A ledger's database, read-only. Raises LedgerUnavailable when nothing answers, LedgerError for a missing right.

    Those that hold a snapshot open and those that read in it come from two pools: readers never wait for holders.
    """

    def __init__(self, url: str, n_sessions: int = N_SESSIONS) -> None:
        self._conninfo = libpq_conninfo(url)
        self._host_port = host_port(self._conninfo)
        connect(self._conninfo).close()
        self._holders = self._pool(N_SNAPSHOTS, 0)
        self._readers = self._pool(n_sessions, 1)

    def _pool(self, n: int, at_least: int) -> "ConnectionPool[Connection]":
        settings = {"autocommit": True}
        return ConnectionPool(
            self._conninfo, kwargs=settings, min_size=at_least, max_size=n, timeout=_WAIT_S, configure=_configure,
            open=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._readers.close()
        self._holders.close()

    @contextmanager
    def sessions(self) -> Iterator[Connection]:
        """Lends a connection in the readers' role."""
        with database_errors(self._host_port), self._readers.connection() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Takes a snapshot; it is gone when the block ends."""
        with (
            database_errors(self._host_port),
            self._holders.connection() as connection,
            connection.transaction(),
        ):
            _begin(connection)
            row = connection.execute("SELECT pg_export_snapshot()").fetchone()
            yield Snapshot(row[0] if row else "", self)


def _configure(connection: Connection) -> None:
    connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(ROLE)))
    # Dates and times are turned into text in SQL too: the session must not depend on the server's defaults.
    # A check reads whole books. Statistics of a young book say that it is empty, and a nested loop planned by them
    # reads the book once for each of its rows.
    for setting in (
        "default_transaction_read_only = on", "TimeZone = 'UTC'", "DateStyle = 'ISO, YMD'",
        "work_mem = '64MB'", "jit = off",
        "enable_nestloop = off", "max_parallel_workers_per_gather = 0",
    ):  # fmt: skip
        connection.execute(f"SET {setting}".encode())


def _begin(connection: Connection) -> None:
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
