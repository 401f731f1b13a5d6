"""The queue in Postgres: a row an item, handed out with FOR UPDATE SKIP LOCKED, at least once.

with PostgresQueue(url) as queue:
    queue.migrate()
    queue.put(QueueItem("2cf2…", "booking", {"doc_type": "supplier_invoice"}))
    taken = queue.take("booking", lease=timedelta(minutes=5))
    …                                       # whoever dies here leaves the item to the next one, five minutes later
    queue.done(taken)
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from bookkeeping.intake import migrate
from bookkeeping.intake.ports import (
    IntakeUnavailable,
    QueueItem,
    Taken,
    checked_key,
    checked_lease,
    checked_name,
    payload_text,
)
from bookkeeping.ledger.connection import host_port, libpq_conninfo
from bookkeeping.migration import Connection

CHECKOUT_TIMEOUT_S = 10

_PUT = (
    "INSERT INTO intake.items (key, queue, payload) VALUES (%s, %s, %s) ON CONFLICT (key) DO NOTHING RETURNING item_id"
)
_TAKE = """
    WITH next AS (
        SELECT item_id FROM intake.items
        WHERE queue = %s AND done_at IS NULL AND (leased_until IS NULL OR leased_until <= clock_timestamp())
        ORDER BY item_id
        FOR UPDATE SKIP LOCKED
        LIMIT 1
    )
    UPDATE intake.items AS item
    SET receipt = gen_random_uuid(), leased_until = clock_timestamp() + %s, n_deliveries = n_deliveries + 1
    FROM next WHERE item.item_id = next.item_id
    RETURNING item.key, item.queue, item.payload, item.receipt::text, item.n_deliveries
"""
_DONE = """
    UPDATE intake.items SET done_at = clock_timestamp(), leased_until = NULL
    WHERE key = %s AND receipt = %s::uuid AND done_at IS NULL RETURNING item_id
"""
_RELEASE = """
    UPDATE intake.items SET leased_until = NULL, receipt = NULL
    WHERE key = %s AND receipt = %s::uuid AND done_at IS NULL RETURNING item_id
"""


class PostgresQueue:
    """An ``IntakeQueue``. Thread-safe; processes share it through the database."""

    def __init__(self, url: str, *, pool_size: int = 4) -> None:
        """Connects. Raises IntakeUnavailable when nothing answers, ValueError for a URL that is none."""
        try:
            self._conninfo = libpq_conninfo(url)
        except ValueError:
            raise ValueError("the queue's URL is not a Postgres URL (postgresql://USER@HOST:PORT/DATABASE)") from None
        self._host_port = host_port(self._conninfo)
        with self._errors():
            psycopg.connect(self._conninfo).close()  # says at once that nothing answers; the pool would keep trying
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True},
            min_size=1,
            max_size=pool_size,
            timeout=CHECKOUT_TIMEOUT_S,
            check=ConnectionPool.check_connection,
            open=True,
        )

    def migrate(self) -> None:
        """Brings the schema to this code's version. Raises IntakeUnavailable."""
        with self._errors(), self._pool.connection() as connection:
            migrate.migrate(connection, self._conninfo)

    def put(self, item: QueueItem) -> bool:
        """Keeps the item; see ``IntakeQueue``."""
        values = [checked_key(item.key), checked_name(item.queue), payload_text(item.payload)]
        return self._row(_PUT, values) is not None

    def queue_of(self, key: str) -> str | None:
        """The queue that the item was put in."""
        row = self._row("SELECT queue FROM intake.items WHERE key = %s", [checked_key(key)])
        return None if row is None else str(row[0])

    def take(self, queue: str, lease: timedelta) -> Taken | None:
        """The oldest item that nobody has."""
        row = self._row(_TAKE, [checked_name(queue), checked_lease(lease)])
        if row is None:
            return None
        key, name, payload, receipt, n_deliveries = row
        return Taken(QueueItem(key, name, json.loads(payload)), receipt, n_deliveries)

    def done(self, taken: Taken) -> bool:
        """Ends the item."""
        return self._row(_DONE, [taken.item.key, taken.receipt]) is not None

    def release(self, taken: Taken) -> bool:
        """Gives the item back."""
        return self._row(_RELEASE, [taken.item.key, taken.receipt]) is not None

    def depth(self, queue: str) -> int:
        """How many items are not done."""
        row = self._row("SELECT count(*) FROM intake.items WHERE queue = %s AND done_at IS NULL", [checked_name(queue)])
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Closes every connection."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _row(self, statement: str, values: Sequence[object]) -> tuple[Any, ...] | None:
        with self._errors(), self._pool.connection() as connection:
            return connection.execute(statement.encode(), values).fetchone()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns what psycopg raises for a database that is gone, or is not migrated, into IntakeUnavailable."""
        try:
            yield
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            raise IntakeUnavailable(f"the queue is not in the database at {self._host_port}: run migrate()") from None
        except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, PoolClosed):
            raise IntakeUnavailable(f"no queue reachable at {self._host_port}") from None
