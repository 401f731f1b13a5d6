"""Databases of a benchmark's own: on the embedded server, as on a fresh machine; dropped afterwards."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from eval_pipeline.postgres import embedded, ensure_database
from eval_pipeline.results.database import Database
from eval_pipeline.settings import settings


@contextmanager
def databases(n: int) -> Iterator[list[str]]:
    """The URLs of so many empty databases."""
    names = [f"bench_{uuid.uuid4().hex}" for _ in range(n)]
    with embedded(settings().home) as server:
        try:
            yield [ensure_database(server.url, name) for name in names]
        finally:
            with psycopg.connect(server.url, autocommit=True) as connection:
                for name in names:
                    drop = sql.SQL("drop database if exists {} with (force)")
                    connection.execute(drop.format(sql.Identifier(name)))


@contextmanager
def results() -> Iterator[Database]:
    """A migrated, empty results database."""
    with databases(1) as (url,), Database(url) as database:
        database.migrate()
        yield database
