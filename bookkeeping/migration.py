"""Bringing a schema of a Postgres database to the version that the code needs, by alembic."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

Connection = psycopg.Connection[tuple[object, ...]]


class NotUpgradable(Exception):
    """The schema is at a version that no migration of this code leads on from."""


def schema_version(connection: Connection, schema: str) -> str | None:
    """The version of a schema, None when it is not there."""
    table = connection.execute("SELECT to_regclass(%s)", [f"{schema}.alembic_version"]).fetchone()
    if table is None or table[0] is None:
        return None
    name = sql.Identifier(schema, "alembic_version")
    row = connection.execute(sql.SQL("SELECT version_num FROM {}").format(name)).fetchone()
    return str(row[0]) if row else None


@contextmanager
def one_at_a_time(connection: Connection, lock: int) -> Iterator[None]:
    """While this lasts no other process migrates under the same lock; it waits."""
    connection.execute("SELECT pg_advisory_lock(%s)", [lock])
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", [lock])


def upgrade(conninfo: str, migrations: Path, head: str) -> None:
    """Upgrades to the version ``head``. Raises NotUpgradable, and psycopg.Error for what the database refuses."""
    import sqlalchemy  # these are slow to import, and a database that is current needs none of them
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo), poolclass=sqlalchemy.NullPool
    )
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    try:
        with engine.begin() as migrating:
            config.attributes["connection"] = migrating
            command.upgrade(config, head)
    except CommandError as error:
        raise NotUpgradable(str(error)) from error
    except sqlalchemy.exc.DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise error.orig from error
        raise
