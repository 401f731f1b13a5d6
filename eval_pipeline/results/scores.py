"""Stored scores and verdicts: replaced together, all or nothing, whenever an agent's outcomes are scored.

Most examples of a board have the same decision (PASS) and many the same scores. Their texts are made once and read
once: both ways go through a small cache.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from eval_pipeline.results.database import Database
from eval_pipeline.results.outcomes import storable
from eval_pipeline.verdict import Decision, Excused, Score, Verdict

_COPY = "copy results.verdicts (run_id, agent, example_id, position, verdict, decision, scores) from stdin"
_REMEMBERED = 1024

Scores = tuple[tuple[int, Score], ...]


@dataclass(frozen=True, slots=True)
class Graded:
    """One graded example: its place in the dataset, the decision, and all scores by trial."""

    example_id: str
    position: int
    decision: Decision
    scores: Scores = ()


def replace(
    database: Database,
    run_id: str,
    agent: str,
    graded: Iterable[Graded],
    *,
    evaluators_digest: str,
    dataset_digest: str,
) -> int:
    """Puts an agent's scores and verdicts in the place of those that are there, in one transaction; gives how many.

    ``graded`` is taken as it comes, so that no list of it is ever held; it must not read through ``database``, which
    is busy all the while. Two that replace at once do it one after the other.
    """
    key = (run_id, agent)
    n = 0
    with database.transaction() as db:
        db.execute(
            "update results.run_agents set evaluators_digest = %s, scored_digest = %s, scored_at = now()"
            " where run_id = %s and agent = %s",
            (evaluators_digest, dataset_digest, *key),
        )
        db.execute("delete from results.verdicts where run_id = %s and agent = %s", key)
        with db.copy(_COPY) as copy:
            for item in graded:
                decision = item.decision
                texts = (decision.verdict.value, _decision_text(decision), _scores_text(item.scores))
                copy.write_row((*key, item.example_id, item.position, *texts))
                n += 1
    return n


def read(database: Database, run_id: str, agent: str) -> tuple[Graded, ...]:
    """The stored verdicts of an agent in the order of its dataset, with their scores."""
    with database.transaction() as db:
        db.execute(
            "select example_id, position, decision::text, scores::text from results.verdicts"
            " where run_id = %s and agent = %s order by position, example_id",
            (run_id, agent),
        )
        return tuple(
            Graded(row["example_id"], row["position"], decision_of(row["decision"]), _scores(row["scores"]))
            for row in db
        )


@lru_cache(_REMEMBERED)
def _scores_text(scores: Scores) -> str:
    return json.dumps(
        [
            (trial, score.key, score.value, storable(score.comment) if score.comment else None, score.unanswered)
            for trial, score in scores
        ]
    )


@lru_cache(_REMEMBERED)
def _scores(text: str) -> Scores:
    return tuple((trial, Score(*fields)) for trial, *fields in json.loads(text))


@lru_cache(_REMEMBERED)
def _decision_text(decision: Decision) -> str:
    return json.dumps(
        {
            "verdict": decision.verdict,
            "reason": decision.reason,
            "failed": decision.failed,
            "excused": [{"key": item.key, "reason": item.reason} for item in decision.excused],
            "xpass": decision.xpass,
            "unanswered": decision.unanswered,
            "hints": decision.hints,
            "n_trials": decision.n_trials,
            "n_passed": decision.n_passed,
        }
    )


@lru_cache(_REMEMBERED)
def decision_of(text: str) -> Decision:
    """A decision from the text that it was stored as."""
    raw: dict[str, Any] = json.loads(text)
    return Decision(
        Verdict(raw["verdict"]),
        raw["reason"],
        tuple(raw["failed"]),
        tuple(Excused(**item) for item in raw["excused"]),
        tuple(raw["xpass"]),
        tuple(raw["unanswered"]),
        tuple(raw["hints"]),
        raw["n_trials"],
        raw["n_passed"],
    )
