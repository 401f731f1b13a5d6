"""A migrated ledger for the session, and a Bookkeeper at work in books of his own."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from bookkeeping.agents.bookkeeper.graph import BookkeeperContext, book_spec, build_graph
from bookkeeping.ledger import Book, Ledger
from eval_pipeline.postgres import Server

Json = dict[str, Any]
BookIt = Callable[..., Json]

LARCH: Json = {
    "company": "Larch Trading Ltd",
    "currency": "EUR",
    "time_zone": "Europe/Berlin",
    "open_from": "2026-01-01",
    "open_to": "2026-12-31",
}


@pytest.fixture(scope="session")
def ledger(postgres_server: Server) -> Iterator[Ledger]:
    """A ledger for throw-away books, in a database of this test process."""
    name = f"bookkeeper_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    with Ledger.connect(postgres_server.database_url(name), pool_size=2) as ledger:
        ledger.migrate()
        ledger.set_marker()
        yield ledger
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def graph() -> Any:
    return build_graph()


@pytest.fixture
def open_book(ledger: Ledger) -> Iterator[Callable[..., Book]]:
    """Opens a book like Larch's, with what the test changes about it."""
    books: list[Book] = []

    def make(**changes: Any) -> Book:
        spec = book_spec({**LARCH, **changes}, chain=f"test-{uuid.uuid4()}", kind="eval")
        books.append(ledger.create_book(spec))
        return books[-1]

    yield make
    for book in books:
        ledger.drop_book(book)


@pytest.fixture
def book_it(graph: Any, open_book: Callable[..., Book]) -> BookIt:
    """Runs a record through the whole graph, in a fresh book or in the one given: ``book_it(record, in_book=...)``."""

    def run(record: Json, in_book: Book | None = None, **changes: Any) -> Json:
        state = {**LARCH, **changes}
        book = in_book or open_book(**changes)
        outputs: Json = graph.invoke({"book": state, "record": record}, context=BookkeeperContext(book))
        return outputs

    return run
