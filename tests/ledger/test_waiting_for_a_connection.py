"""A check-out that takes long: the server is asked whether it is there, and only one that is gone ends the waiting."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bookkeeping.ledger import Ledger, LedgerUnavailable
from bookkeeping.ledger import connection as ledger_connection
from bookkeeping.ledger.connection import Database, libpq_conninfo
from eval_pipeline.postgres import Server

NOBODY = "postgresql://u@127.0.0.1:1/books"


class AskedPool:
    """The pool of a database, remembering how long it was asked to wait; the second time, ``again`` is set."""

    def __init__(self, database: Database) -> None:
        self._pool = database._pool
        self.waits: list[float] = []
        self.again = threading.Event()

    def getconn(self, timeout: float) -> Any:
        self.waits.append(timeout)
        if len(self.waits) > 1:
            self.again.set()
        return self._pool.getconn(timeout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)


@pytest.fixture(autouse=True)
def _probe_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_connection, "PROBE_AFTER_S", 0.1)


@contextmanager
def all_lent(database: Database) -> Iterator[AskedPool]:
    """The one connection of the pool is in use, until the pool is asked a second time."""
    asked, is_lent = AskedPool(database), threading.Event()

    def use() -> None:
        with database.connection():
            is_lent.set()
            asked.again.wait(20)

    user = threading.Thread(target=use)
    user.start()
    assert is_lent.wait(20)
    database._pool = asked  # type: ignore[assignment]
    try:
        yield asked
    finally:
        asked.again.set()
        user.join(20)


@pytest.fixture
def database(ledger: Ledger, ledger_url: str) -> Iterator[Database]:
    database = Database(ledger_url, pool_size=1)
    yield database
    database.close()


def test_a_server_that_is_gone_is_known_before_the_pool_gives_up(database: Database) -> None:
    with all_lent(database) as asked:
        database.conninfo = libpq_conninfo(NOBODY)
        with pytest.raises(LedgerUnavailable), database.connection():
            pass
        assert asked.waits == [0.1]


def test_a_connection_that_is_only_busy_is_waited_for(database: Database) -> None:
    with all_lent(database) as asked, database.connection() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert asked.waits == [0.1, ledger_connection.CHECKOUT_TIMEOUT_S - 0.1]


def test_a_server_that_refuses_another_connection_is_there(database: Database, postgres_server: Server) -> None:
    with all_lent(database):
        database.conninfo = libpq_conninfo(postgres_server.database_url("absent"))
        with database.connection() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
