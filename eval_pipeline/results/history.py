"""What earlier runs said of the same examples."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from eval_pipeline.results.database import Database
from eval_pipeline.results.scores import decision_of
from eval_pipeline.verdict import Decision

_DECISIONS = """
select example_id, decision from (
    select v.example_id, v.decision::text,
           row_number() over (partition by v.example_id order by r.created_at desc) as nth
      from results.verdicts v join results.runs r using (run_id)
     where v.agent = %s and v.example_id = any(%s) and v.verdict not in ('SKIP', 'ERROR')
       and not r.partial and not r.interrupted and r.finished_at is not null
       and r.model is not distinct from %s
) as ranked where nth <= %s order by example_id, nth
"""


def decisions(
    database: Database, agent: str, examples: Sequence[str], model: str | None, last: int
) -> Mapping[str, tuple[Decision, ...]]:
    """By example id the decisions of the last whole runs that graded it with this model, the newest first."""
    found: dict[str, list[Decision]] = {}
    with database.transaction() as db:
        db.execute(_DECISIONS, (agent, list(examples), model, last))
        for row in db:
            found.setdefault(row["example_id"], []).append(decision_of(row["decision"]))
    return {example: tuple(items) for example, items in found.items()}


def last_green(database: Database, run_id: str) -> datetime | None:
    """When the last whole GREEN board before this run's was made (UTC); None when there was none."""
    with database.transaction() as db:
        db.execute(
            "select max(b.created_at) as last from results.boards b, results.runs r"
            " where r.run_id = %s and b.run_id <> r.run_id and b.state = 'GREEN' and not b.partial"
            " and b.created_at < r.created_at",
            (run_id,),
        )
        row = db.fetchone()
    return row["last"] if row else None


def verdicts_before(
    database: Database, run_id: str, examples: Sequence[tuple[str, str]]
) -> Mapping[tuple[str, str], str]:
    """By (agent, example) the verdicts of the last whole run before this one with its model. Not there: not in it."""
    agents, ids = [agent for agent, _ in examples], [example for _, example in examples]
    with database.transaction() as db:
        db.execute(_BEFORE, (run_id, agents, ids))
        return {(row["agent"], row["example_id"]): row["verdict"] for row in db}


_BEFORE = """
select agent, example_id, verdict::text from results.verdicts
 where run_id = (
    select b.run_id from results.runs b, results.runs r
     where r.run_id = %s and b.created_at < r.created_at and b.model is not distinct from r.model
       and not b.partial and not b.interrupted and b.finished_at is not null
     order by b.created_at desc limit 1)
   and (agent, example_id) in (select * from unnest(%s::text[], %s::text[]))
"""
