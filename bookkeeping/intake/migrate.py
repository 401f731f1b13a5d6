"""Bringing the queue's database to this code's version: schema ``intake``, by alembic."""

from pathlib import Path

from bookkeeping.intake.ports import IntakeUnavailable
from bookkeeping.migration import Connection, NotUpgradable, one_at_a_time, schema_version, upgrade

# The newest file in migrations/versions; a database that is there needs no alembic, which is slow to import.
HEAD = "0001"
MIGRATIONS = Path(__file__).with_name("migrations")
_LOCK = 7311000002


def migrate(connection: Connection, conninfo: str) -> None:
    """Upgrades the schema. Only one process at a time does; the others wait. Raises IntakeUnavailable."""
    if version(connection) == HEAD:
        return
    with one_at_a_time(connection, _LOCK):
        if version(connection) != HEAD:
            try:
                upgrade(conninfo, MIGRATIONS, HEAD)
            except NotUpgradable as error:
                told = f"the database's intake is not one that this code can upgrade to {HEAD}"
                raise IntakeUnavailable(told) from error


def version(connection: Connection) -> str | None:
    """The version of the schema that is there, None when there is none."""
    return schema_version(connection, "intake")
