"""Entries are found by the number of their document without reading the whole book."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    """Adds the index."""
    op.get_bind().exec_driver_sql((SQL / "0003_document_numbers.sql").read_text("utf-8").replace("%", "%%"))


def downgrade() -> None:
    """Refused, as for the journal."""
    raise NotImplementedError("a ledger is not migrated down: restore the backup from before the upgrade")
