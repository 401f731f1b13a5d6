"""A results database of a benchmark's own: on the embedded server, as on a fresh machine; dropped afterwards."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from eval_pipeline.postgres import embedded, ensure_database
from eval_pipeline.results.database import Database
from eval_pipeline.settings import settings


@contextmanager
def results() -> Iterator[Database]:
    """A migrated, empty results database."""
    name = f"bench_{uuid.uuid4().hex}"
    with embedded(settings().home) as server:
        try:
            with Database(ensure_database(server.url, name)) as database:
                database.migrate()
                yield database
        finally:
            with psycopg.connect(server.url, autocommit=True) as connection:
                drop = sql.SQL("drop database if exists {} with (force)")
                connection.execute(drop.format(sql.Identifier(name)))
