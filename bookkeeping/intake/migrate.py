"""Bringing the queue's database to this code's version: schema ``intake``, by alembic."""

from pathlib import Path

import psycopg

from bookkeeping.intake.ports import IntakeUnavailable

# The newest file in migrations/versions; a database that is there needs no alembic, which is slow to import.
HEAD = "0001"
MIGRATIONS = Path(__file__).with_name("migrations")
_LOCK = 7311000002

Connection = psycopg.Connection[tuple[object, ...]]


def migrate(connection: Connection, conninfo: str) -> None:
    """Upgrades the schema. Only one process at a time does; the others wait. Raises IntakeUnavailable."""
    if version(connection) == HEAD:
        return
    connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        if version(connection) != HEAD:
            _upgrade(conninfo)
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def version(connection: Connection) -> str | None:
    """The version of the schema that is there, None when there is none."""
    table = connection.execute("SELECT to_regclass('intake.alembic_version')").fetchone()
    if table is None or table[0] is None:
        return None
    row = connection.execute("SELECT version_num FROM intake.alembic_version").fetchone()
    return str(row[0]) if row else None


def _upgrade(conninfo: str) -> None:
    import sqlalchemy
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo), poolclass=sqlalchemy.NullPool
    )
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    try:
        with engine.begin() as migrating:
            config.attributes["connection"] = migrating
            command.upgrade(config, HEAD)
    except CommandError as error:
        raise IntakeUnavailable(f"the database's intake is not one that this code can upgrade to {HEAD}") from error
    except sqlalchemy.exc.DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise error.orig from error
        raise
