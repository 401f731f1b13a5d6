"""Stored scores and verdicts: replaced together, all or nothing, whenever an agent's outcomes are scored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eval_pipeline.results.database import Database
from eval_pipeline.results.outcomes import storable
from eval_pipeline.verdict import Decision, Excused, Score, Verdict

_COPY_SCORES = "copy results.scores (run_id, agent, example_id, trial, key, value, comment, unanswered) from stdin"
_COPY_VERDICTS = "copy results.verdicts (run_id, agent, example_id, position, verdict, decision) from stdin"


@dataclass(frozen=True, slots=True)
class Graded:
    """One graded example: its place in the dataset, the decision, and all scores by trial."""

    example_id: str
    position: int
    decision: Decision
    scores: tuple[tuple[int, Score], ...] = ()


def replace(
    database: Database,
    run_id: str,
    agent: str,
    graded: Sequence[Graded],
    *,
    evaluators_digest: str,
    dataset_digest: str,
) -> None:
    """Puts an agent's scores and verdicts in the place of those that are there, in one transaction."""
    key = (run_id, agent)
    with database.transaction() as db:
        db.execute("delete from results.scores where run_id = %s and agent = %s", key)
        db.execute("delete from results.verdicts where run_id = %s and agent = %s", key)
        with db.copy(_COPY_SCORES) as copy:
            for item in graded:
                for trial, score in item.scores:
                    comment = storable(score.comment) if score.comment else None
                    copy.write_row((*key, item.example_id, trial, score.key, score.value, comment, score.unanswered))
        with db.copy(_COPY_VERDICTS) as copy:
            for item in graded:
                decision = item.decision
                text = json.dumps(asdict(decision))
                copy.write_row((*key, item.example_id, item.position, decision.verdict.value, text))
        db.execute(
            "update results.run_agents set evaluators_digest = %s, scored_digest = %s, scored_at = now()"
            " where run_id = %s and agent = %s",
            (evaluators_digest, dataset_digest, *key),
        )


def read(database: Database, run_id: str, agent: str) -> tuple[Graded, ...]:
    """The stored verdicts of an agent in the order of its dataset, with their scores."""
    with database.transaction() as db:
        db.execute(
            "select example_id, position, decision from results.verdicts"
            " where run_id = %s and agent = %s order by position, example_id",
            (run_id, agent),
        )
        verdicts = db.fetchall()
        scores = _scores(db.execute(_SELECT_SCORES, (run_id, agent)).fetchall())
    return tuple(
        Graded(row["example_id"], row["position"], _decision(row["decision"]), scores.get(row["example_id"], ()))
        for row in verdicts
    )


_SELECT_SCORES = (
    "select example_id, trial, key, value, comment, unanswered from results.scores"
    " where run_id = %s and agent = %s order by example_id, trial, key"
)


def _scores(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[tuple[int, Score], ...]]:
    found: dict[str, list[tuple[int, Score]]] = {}
    for row in rows:
        score = Score(row["key"], row["value"], row["comment"], row["unanswered"])
        found.setdefault(row["example_id"], []).append((row["trial"], score))
    return {example: tuple(scores) for example, scores in found.items()}


def _decision(raw: Mapping[str, Any]) -> Decision:
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
