"""The connection to the results database, and its migrations."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from eval_pipeline.errors import ResultsUnavailable
from eval_pipeline.postgres import normalise_url, reachable

MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x6576616C
"""Advisory lock (of this database) that makes two first runs migrate one after the other."""

Cursor = psycopg.Cursor[dict[str, Any]]


class Database:
    """One connection to the results database. Not to be shared between threads: open one for each."""

    def __init__(self, url: str) -> None:
        """Connects. Raises ResultsUnavailable, with host and port and without a password, when nothing answers."""
        self.url = normalise_url(url)
        reason = reachable(self.url)
        if reason is not None:
            raise ResultsUnavailable(f"the results database does not answer: {reason}")
        try:
            self._connection: psycopg.Connection[dict[str, Any]] = psycopg.connect(
                self.url, autocommit=True, row_factory=dict_row, connect_timeout=5
            )
        except psycopg.OperationalError as error:  # it answers and refuses: a wrong password, no such database
            told = " ".join(str(error).split())
            raise ResultsUnavailable(f"the results database refuses the connection: {told}") from None

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    @contextmanager
    def transaction(self, cursor_name: str | None = None) -> Iterator[Cursor]:
        """A cursor in a transaction that commits at the end; with a name, a server-side cursor that reads in pages.

        Raises ResultsUnavailable when the server goes away in between.
        """
        try:
            with self._connection.transaction():
                cursor = self._connection.cursor(cursor_name) if cursor_name else self._connection.cursor()
                with cursor as db:
                    yield db
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise ResultsUnavailable(f"the results database went away: {' '.join(str(error).split())}") from error

    def migrate(self) -> None:
        """Brings the schema ``results`` to the newest version. Two processes at once do it one after the other."""
        if self._is_current():
            return
        from alembic import command
        from alembic.config import Config
        from sqlalchemy import create_engine, text
        from sqlalchemy.pool import NullPool

        engine = create_engine(self.url.replace("postgresql://", "postgresql+psycopg://", 1), poolclass=NullPool)
        with engine.connect() as connection:
            connection.execute(text("select pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
            connection.execute(text("create schema if not exists results"))
            connection.commit()
            config = Config()
            config.set_main_option("script_location", str(MIGRATIONS))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()

    def _is_current(self) -> bool:
        newest = max(path.stem.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
        with self.transaction() as db:
            db.execute("select to_regclass('results.alembic_version') is not null as there")
            if not (db.fetchone() or {})["there"]:
                return False
            db.execute("select version_num from results.alembic_version")
            row = db.fetchone()
        return row is not None and row["version_num"] == newest
