"""A migrated ledger for a module of tests: one plain, one that carries the harness's marker."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql

from bookkeeping.ledger import Book, Ledger
from eval_pipeline.postgres import Server
from tests.ledger.builders import a_spec


@contextmanager
def empty_database(server: Server) -> Iterator[str]:
    """URL of a database that is dropped in the end."""
    name = f"ledger_{uuid.uuid4().hex}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    yield server.database_url(name)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def ledger_url(postgres_server: Server) -> Iterator[str]:
    with empty_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def ledger(ledger_url: str) -> Iterator[Ledger]:
    with Ledger.connect(ledger_url) as ledger:
        ledger.migrate()
        yield ledger


@pytest.fixture(scope="module")
def harness_url(postgres_server: Server) -> Iterator[str]:
    with empty_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def harness_ledger(harness_url: str) -> Iterator[Ledger]:
    with Ledger.connect(harness_url) as ledger:
        ledger.migrate()
        ledger.set_marker()
        yield ledger


@pytest.fixture
def book(ledger: Ledger) -> Book:
    """An open euro book of 2026."""
    return ledger.create_book(a_spec())


@pytest.fixture
def raw(ledger: Ledger, ledger_url: str) -> Iterator[psycopg.Connection]:
    """A connection that knows nothing of the ledger's Python: the database is on its own."""
    with psycopg.connect(ledger_url) as connection:
        yield connection
