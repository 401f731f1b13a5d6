"""What a book keeps beside its journal: parties, documents, approvals, open items, statements, stock."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    """Creates the schema subledger."""
    op.get_bind().exec_driver_sql((SQL / "0002_subledger.sql").read_text("utf-8").replace("%", "%%"))


def downgrade() -> None:
    """Refused, as for the journal."""
    raise NotImplementedError("a ledger is not migrated down: restore the backup from before the upgrade")
