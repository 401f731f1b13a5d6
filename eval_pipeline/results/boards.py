"""Stored boards: each reading of a run that was published, the newest last."""

from typing import Any

from eval_pipeline.results.database import Database


def add(database: Database, run_id: str, state: str, board: str, *, partial: bool) -> None:
    """Keeps a board, given as its JSON text."""
    with database.transaction() as db:
        db.execute(
            "insert into results.boards (run_id, state, partial, board) values (%s, %s, %s, %s)",
            (run_id, state, partial, board),
        )


def latest(database: Database, run_id: str) -> dict[str, Any] | None:
    """The newest board of a run as a JSON value, or None when none was published."""
    with database.transaction() as db:
        db.execute("select board from results.boards where run_id = %s order by board_id desc limit 1", (run_id,))
        row = db.fetchone()
    return None if row is None else dict(row["board"])
