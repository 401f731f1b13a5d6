"""Bringing the ledger's database to this code's version: alembic for the schema, then the reference data."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bookkeeping.ledger.chart import chart_digest, standard_chart
from bookkeeping.ledger.connection import Connection
from bookkeeping.ledger.currency import currency_scales
from bookkeeping.ledger.errors import LedgerError

# The newest file in migrations/versions; a database that is there needs no alembic, which is slow to import.
HEAD = "0003"
MIGRATIONS = Path(__file__).with_name("migrations")
_LOCK = 7311000001


def migrate(connection: Connection, conninfo: str) -> None:
    """Upgrades the schema, adds what the reference data lacks. Raises LedgerError."""
    if _is_current(connection):
        return
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise LedgerError(f"the database's encoding is {encoding}: the ledger needs UTF8")
    with _right_errors(connection), _migration_lock(connection):
        if _version(connection) != HEAD:
            _upgrade(conninfo)
        _add_reference_data(connection)


def _version(connection: Connection) -> str | None:
    table = connection.execute("SELECT to_regclass('ledger.alembic_version')").fetchone()
    if table is None or table[0] is None:
        return None
    row = connection.execute("SELECT version_num FROM ledger.alembic_version").fetchone()
    return row[0] if row else None


def _is_current(connection: Connection) -> bool:
    if _version(connection) != HEAD:
        return False
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM ledger.charts WHERE digest = %s)"
        " AND NOT EXISTS (SELECT unnest(%s::text[]) EXCEPT SELECT code FROM ledger.currencies)",
        [chart_digest(), list(currency_scales())],
    ).fetchone()
    return bool(row and row[0])


@contextmanager
def _migration_lock(connection: Connection) -> Iterator[None]:
    connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


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
        raise LedgerError(f"the database's ledger is not one that this code can upgrade to {HEAD}: {error}") from error
    except sqlalchemy.exc.DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise error.orig from error
        raise


def _add_reference_data(connection: Connection) -> None:
    scales = currency_scales()
    with connection.transaction():
        connection.execute(
            "INSERT INTO ledger.currencies (code, scale) SELECT * FROM unnest(%s::text[], %s::int[])"
            " ON CONFLICT DO NOTHING",
            [list(scales), list(scales.values())],
        )
        chart = connection.execute(
            "INSERT INTO ledger.charts (digest) VALUES (%s) ON CONFLICT DO NOTHING RETURNING chart_id", [chart_digest()]
        ).fetchone()
        if chart is not None:
            accounts = standard_chart()
            connection.execute(
                "INSERT INTO ledger.accounts (chart_id, code, name, type, normal_balance)"
                " SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[])",
                [
                    chart[0],
                    [account.code for account in accounts],
                    [account.name for account in accounts],
                    [account.type for account in accounts],
                    [account.normal_balance for account in accounts],
                ],
            )


@contextmanager
def _right_errors(connection: Connection) -> Iterator[None]:
    user, database = connection.info.user, connection.info.dbname
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        message = error.diag.message_primary or ""
        if "role" in message:
            raise LedgerError(
                f"database user {user} may not create the role ledger_reader: as an administrator run once"
                " CREATE ROLE ledger_reader NOLOGIN, then migrate again"
            ) from error
        raise LedgerError(
            f"database user {user} may not migrate {database} ({message}): give it CREATE on the database, or migrate"
            " as the owner of the schema ledger"
        ) from error
