"""Books, periods, entries, lines, and what the database refuses."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    """Creates everything of the first version."""
    for part in ("tables", "refusals", "eval_books", "reader"):
        op.get_bind().exec_driver_sql((SQL / f"0001_{part}.sql").read_text("utf-8").replace("%", "%%"))


def downgrade() -> None:
    """Refused: what is posted is not deleted."""
    raise NotImplementedError("a ledger is not migrated down: restore the backup from before the upgrade")
