"""A migrated results database for tests: made once by each worker, emptied for each test."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from eval_pipeline.postgres import Server
from eval_pipeline.results import Database


@pytest.fixture(scope="session")
def migrated_url(postgres_server: Server) -> Iterator[str]:
    """The URL of a migrated database; it goes with the session's server."""
    name = f"results_{uuid4().hex}"
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template0 STRATEGY wal_log").format(sql.Identifier(name))
        )
    url = postgres_server.database_url(name)
    with Database(url) as opened:
        opened.migrate()
    yield url
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def results(migrated_url: str) -> Iterator[Database]:
    """A connection to a results database that is migrated and empty."""
    with Database(migrated_url) as opened:
        with opened.transaction() as db:
            db.execute("delete from results.runs")
        yield opened
