"""What retention reads and deletes. A root run goes whole, in one transaction, or stays whole: a kill halves none."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime

from eval_pipeline.results.database import Cursor, Database
from eval_pipeline.results.lease import is_idle
from eval_pipeline.retention import StoredRun

PRUNING_LOCK = 0x7072756E
"""Advisory lock (of this database) of the one who prunes: two deletions of the same rows could block each other."""

_RUNS = """
select r.run_id, r.created_at, r.finished_at, r.model,
       not r.partial and not r.interrupted and r.finished_at is not null as is_whole,
       coalesce((select not b.partial from results.boards b where b.run_id = r.run_id order by board_id desc limit 1),
                false) as has_whole_board,
       exists (select from results.boards b where b.run_id = r.run_id and b.state = 'GREEN' and not b.partial)
           as has_been_green,
       array(select agent from results.run_agents a where a.run_id = r.run_id and n_selected > 0) as agents
  from results.runs r
"""

_GRADED = """
select v.run_id, v.agent, v.example_id
  from results.verdicts v join unnest(%s::text[], %s::text[]) as marked (agent, example_id) using (agent, example_id)
 where v.verdict not in ('SKIP', 'ERROR')
"""

_OLD_ALERTS = """
 from results.alerts a where a.sent_at < %s
  and exists (select from results.alerts b where b.kind = a.kind and b.created_at > a.created_at)
"""
"""Those that every channel has. The newest of a kind stays: as long as it is there it is not told again."""


@contextmanager
def pruning(database: Database) -> Iterator[None]:
    """While this lasts nobody else prunes; who comes second waits. The lock goes with the session of who is killed."""
    with database.transaction() as db:
        db.execute("select pg_advisory_lock(%s)", (PRUNING_LOCK,))
    try:
        yield
    finally:
        with database.transaction() as db:
            db.execute("select pg_advisory_unlock(%s)", (PRUNING_LOCK,))


def stored_runs(database: Database, marked: Collection[tuple[str, str]]) -> tuple[StoredRun, ...]:
    """All root runs. ``marked``: agent and id of the examples that have an intermittent defect."""
    graded: dict[str, set[tuple[str, str]]] = {}
    with database.transaction() as db:
        db.execute("set transaction isolation level repeatable read")
        db.execute(_GRADED, ([agent for agent, _ in marked], [example for _, example in marked]))
        for row in db:
            graded.setdefault(row["run_id"], set()).add((row["agent"], row["example_id"]))
        db.execute(_RUNS)
        return tuple(
            StoredRun(
                **{
                    **row,
                    "agents": frozenset(row["agents"]),
                    "graded": frozenset(graded.get(row["run_id"], ())),
                }
            )
            for row in db.fetchall()
        )


def delete_run(database: Database, run: StoredRun) -> bool:
    """Deletes a root run with all that belongs to it; False when somebody works on it, or it is not as it was read."""
    with database.transaction() as db:
        if not is_idle(db, run.run_id, run.agents):
            return False
        db.execute(
            "delete from results.runs where run_id = %s and finished_at is not distinct from %s",
            (run.run_id, run.finished_at),
        )
        return db.rowcount == 1


def old_alerts(database: Database, before: datetime) -> int:
    """How many alerts ``delete_alerts`` would delete."""
    with database.transaction() as db:
        db.execute(f"select count(*) as n {_OLD_ALERTS}", (before,))
        return int((db.fetchone() or {})["n"])


def delete_alerts(database: Database, before: datetime) -> int:
    """Deletes what was told on every channel before an instant, except the newest of each kind; gives how many."""
    with database.transaction() as db:
        db.execute(f"delete {_OLD_ALERTS}", (before,))
        return db.rowcount


_CHECKS = "asset_check_executions"
"""Dagster's table of answered checks: deleting a run by Dagster leaves them."""


def runs_of_newest_checks(database: Database) -> frozenset[str]:
    """The Dagster runs that gave the newest answer of each check."""
    with database.transaction() as db:
        if not _has_checks(db):
            return frozenset()
        db.execute(
            f"select distinct on (asset_key, check_name) run_id from public.{_CHECKS}"  # noqa: S608
            " order by asset_key, check_name, id desc"
        )
        return frozenset(row["run_id"] for row in db.fetchall())


def delete_checks_of(database: Database, dagster_run: str) -> None:
    """Deletes what the checks of a Dagster run answered."""
    with database.transaction() as db:
        if _has_checks(db):
            db.execute(f"delete from public.{_CHECKS} where run_id = %s", (dagster_run,))  # noqa: S608


def _has_checks(db: Cursor) -> bool:
    db.execute("select to_regclass(%s) is not null as there", (f"public.{_CHECKS}",))
    return bool((db.fetchone() or {})["there"])
