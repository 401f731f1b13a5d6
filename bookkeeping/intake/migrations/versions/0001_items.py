"""The items of the queues."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    """Creates the table of items."""
    op.get_bind().exec_driver_sql((SQL / "0001_items.sql").read_text("utf-8").replace("%", "%%"))


def downgrade() -> None:
    """Refused: what waits in a queue is not deleted."""
    raise NotImplementedError("a queue is not migrated down: restore the backup from before the upgrade")
