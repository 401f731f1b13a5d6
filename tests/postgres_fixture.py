"""A real Postgres for tests: one embedded server a session, an empty database a test.

* `postgres_server`: the `Server`; all xdist workers share it.
* `database_url`: the URL of an empty database, dropped after the test. No driver in it (`dagster_url` adds Dagster's).
* `reachable_home`: an empty folder for a command that is to start its own embedded server. Unlike `tmp_path` it can be
  entered by the unprivileged user as whom root runs Postgres, so nothing is left outside it.
"""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from eval_pipeline.postgres import Server, embedded

_HOME_VARIABLE = "EVAL_TESTS_POSTGRES_HOME"  # the first process of a session makes it, its workers inherit it
_OURS = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Makes the folder of the session's server, once a session."""
    if _HOME_VARIABLE not in os.environ:
        config.stash[_OURS] = _folder()
        os.environ[_HOME_VARIABLE] = str(config.stash[_OURS])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes the folder when all workers are done."""
    if home := config.stash.get(_OURS, None):
        del os.environ[_HOME_VARIABLE]
        shutil.rmtree(home)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The session's server: whoever needs it first starts it, the last one to leave stops it."""
    with embedded(Path(os.environ[_HOME_VARIABLE])) as server:
        _need_not_survive_the_machine(server)
        yield server


def _need_not_survive_the_machine(server: Server) -> None:
    """Waits for no disk: processes are killed here, never the machine, and each drop of a database would be a flush."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes"):
            connection.execute(sql.SQL("ALTER SYSTEM SET {} TO off").format(sql.Identifier(setting)))
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture
def database_url(postgres_server: Server) -> Iterator[str]:
    """An empty database of the test's own."""
    with fresh_database(postgres_server) as url:
        yield url


@contextmanager
def fresh_database(postgres_server: Server) -> Iterator[str]:
    """Makes an empty database and drops it."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template0 STRATEGY wal_log").format(sql.Identifier(name))
        )
    yield postgres_server.database_url(name)
    # Forced: a pool that a test left open is no reason for the next test to fail.
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def reachable_home() -> Iterator[Path]:
    """An empty folder that others may pass through."""
    with reachable_folder() as home:
        yield home


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """Makes such a folder and removes it."""
    folder = _folder()
    yield folder
    shutil.rmtree(folder)


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="eval-test-", dir="/tmp"))
    folder.chmod(0o711)
    return folder
