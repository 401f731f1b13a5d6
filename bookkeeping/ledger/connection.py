"""Connections to the ledger's database: the URL, the pool, and whether a connection still lives."""

import re
import select
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from bookkeeping.ledger.errors import LedgerUnavailable, database_errors

CONNECT_TIMEOUT_S = 3
CHECKOUT_TIMEOUT_S = 10
PROBE_AFTER_S = 1
"""A connection that is not there after this long is one that is busy, or a server that is gone: it is asked."""

Connection = psycopg.Connection[tuple[Any, ...]]


def libpq_conninfo(url: str) -> str:
    """A libpq connection string from a URL, also one with a SQLAlchemy driver (postgresql+psycopg2://).

    Raises ValueError without the URL in its message, since a URL may carry a password.
    """
    plain = re.sub(r"^(postgres(?:ql)?)\+[a-z0-9_]+(?=://)", r"\1", url)
    try:
        given = conninfo_to_dict(plain)
        if not re.fullmatch(r"[0-9,]*", str(given.get("port", ""))):
            raise ValueError  # noqa: TRY301 - said below, in the words for every URL that is none
    except (psycopg.ProgrammingError, ValueError):
        raise ValueError("the ledger's URL is not a Postgres URL (postgresql://USER@HOST:PORT/DATABASE)") from None
    # Text is compared and hashed as UTF-8, and days are reckoned in UTC, whatever the client's environment says.
    defaults = {"connect_timeout": str(CONNECT_TIMEOUT_S), "application_name": "ledger"}
    settings = defaults | {name: str(value) for name, value in given.items()} | {"client_encoding": "utf8"}
    return make_conninfo("", **settings)


def host_port(conninfo: str) -> str:
    """HOST:PORT, or SOCKET_DIR:PORT, that a connection string points to."""
    given = conninfo_to_dict(conninfo)
    return f"{given.get('host') or given.get('hostaddr') or 'localhost'}:{given.get('port') or 5432}"


def connect(conninfo: str) -> Connection:
    """One autocommit connection. Raises LedgerUnavailable."""
    try:
        connection: Connection = psycopg.connect(conninfo, autocommit=True)
    except psycopg.OperationalError as error:
        # The server's own refusal ("FATAL: database … does not exist") names user and database, never a password.
        fatal = re.search(r"FATAL:\s*(.+)", str(error))
        raise LedgerUnavailable(host_port(conninfo), fatal.group(1) if fatal else None) from None
    return connection


def is_alive(connection: Connection) -> bool:
    """Whether an idle connection still has its server, without a round trip.

    An idle server says nothing: a socket with something to read is a server that said goodbye.
    """
    if connection.closed:
        return False
    readable, _, _ = select.select([connection.fileno()], [], [], 0)
    return not readable


class Database:
    """A pool of autocommit connections to one database; what it raises is the ledger's own errors."""

    def __init__(self, url: str, pool_size: int) -> None:
        self.conninfo = libpq_conninfo(url)
        self.host_port = host_port(self.conninfo)
        connect(self.conninfo).close()  # says at once that nothing answers; the pool would keep trying
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            self.conninfo,
            kwargs={"autocommit": True},
            min_size=1,
            max_size=pool_size,
            timeout=CHECKOUT_TIMEOUT_S,
            check=_check,
            configure=_configure,
            open=True,
        )
        try:
            # Whoever asked before its first connection is there would have a second one opened, and kept for nothing.
            self._pool.wait(CHECKOUT_TIMEOUT_S)
        except PoolTimeout:
            raise LedgerUnavailable(self.host_port) from None

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lends a connection to this thread."""
        with database_errors(self.host_port):
            connection = self._checked_out()
            try:
                with connection:
                    yield connection
            finally:
                self._pool.putconn(connection)

    def _checked_out(self) -> Connection:
        """A connection of the pool. Raises LedgerUnavailable as soon as it is known that nothing answers.

        The pool itself tries to reconnect until the whole time for a check-out is over, also where nobody is there.
        """
        try:
            return self._pool.getconn(PROBE_AFTER_S)
        except PoolTimeout:
            self._probe()
            return self._pool.getconn(CHECKOUT_TIMEOUT_S - PROBE_AFTER_S)

    def _probe(self) -> None:
        """Raises LedgerUnavailable where no server answers; one that answers, if only to refuse, is waited for."""
        try:
            connect(self.conninfo).close()
        except LedgerUnavailable as unavailable:
            if unavailable.reason is None:
                raise

    def close(self) -> None:
        """Closes every connection."""
        self._pool.close()


def _check(connection: Connection) -> None:
    if not is_alive(connection):
        connection.close()  # the pool puts back what is open, and replaces what is closed
        raise psycopg.OperationalError("the connection is gone")


def _configure(connection: Connection) -> None:
    # Whatever the server's default is: what follows the chain's lock has to see what its last holder wrote.
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    # Every query and every foreign key of the ledger is by key. Statistics of a young or emptied table say that it
    # is tiny and that reading all of it is cheaper, and the plan outlives the moment when that was true.
    connection.execute("SET enable_seqscan = off")
