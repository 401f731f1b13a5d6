"""Bringing the ledger's database to this code's version: alembic for the schema, then the reference data."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bookkeeping.ledger.chart import chart_digest, standard_chart
from bookkeeping.ledger.connection import Connection
from bookkeeping.ledger.currency import currency_scales
from bookkeeping.ledger.errors import LedgerError
from bookkeeping.migration import NotUpgradable, one_at_a_time, schema_version, upgrade

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
    with _right_errors(connection), one_at_a_time(connection, _LOCK):
        if _version(connection) != HEAD:
            _upgrade(conninfo)
        _add_reference_data(connection)


def _version(connection: Connection) -> str | None:
    return schema_version(connection, "ledger")


def _is_current(connection: Connection) -> bool:
    if _version(connection) != HEAD:
        return False
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM ledger.charts WHERE digest = %s)"
        " AND NOT EXISTS (SELECT unnest(%s::text[]) EXCEPT SELECT code FROM ledger.currencies)",
        [chart_digest(), list(currency_scales())],
    ).fetchone()
    return bool(row and row[0])


def _upgrade(conninfo: str) -> None:
    try:
        upgrade(conninfo, MIGRATIONS, HEAD)
    except NotUpgradable as error:
        raise LedgerError(f"the database's ledger is not one that this code can upgrade to {HEAD}: {error}") from error


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
