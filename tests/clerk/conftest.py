"""The real stores of the Clerk: one migrated database a module, a folder a test."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from bookkeeping.intake.postgres_queue import PostgresQueue
from eval_pipeline.postgres import Server


@pytest.fixture(scope="module")
def queue_url(postgres_server: Server) -> Iterator[str]:
    """The URL of a database for queues, dropped after the module's tests."""
    name = f"queue_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield postgres_server.database_url(name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def postgres_queue(queue_url: str) -> Iterator[PostgresQueue]:
    """A real queue, migrated. Tests take names of queues that nobody else has."""
    with PostgresQueue(queue_url) as queue:
        queue.migrate()
        yield queue
