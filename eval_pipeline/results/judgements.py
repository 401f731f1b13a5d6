"""Stored judgements: what the judge answered, and what that cost the run that asked first."""

import json
from decimal import Decimal
from typing import Any

from bookkeeping.models import cost_usd
from eval_pipeline.judge.judge import Kept
from eval_pipeline.judge.verdicts import CriterionVerdict, Judgement
from eval_pipeline.results.database import Database


class StoredJudgements:
    """The memory of the judge of one run and agent."""

    def __init__(self, database: Database, run_id: str, agent: str) -> None:
        self._database, self._run_id, self._agent = database, run_id, agent

    def get(self, key: str) -> Judgement | None:
        """The judgement of this key, None when it was never answered."""
        with self._database.transaction() as db:
            db.execute("select verdicts from results.judgements where key = %s", (key,))
            row = db.fetchone()
        return None if row is None else Judgement(tuple(CriterionVerdict(*item) for item in row["verdicts"]))

    def put(self, key: str, kept: Kept, model: str) -> None:
        """Keeps a judgement; one that another process kept meanwhile stays."""
        verdicts = [[item.criterion, item.holds, item.quotation] for item in kept.judgement.verdicts]
        tokens = kept.tokens
        with self._database.transaction() as db:
            db.execute(
                "insert into results.judgements"
                " (key, run_id, agent, model, model_id, verdicts, input_tokens, output_tokens, cost_usd)"
                " values (%s, %s, %s, %s, %s, %s, %s, %s, %s) on conflict (key) do nothing",
                (
                    key,
                    self._run_id,
                    self._agent,
                    model,
                    kept.model_id,
                    json.dumps(verdicts),
                    tokens.all_input,
                    tokens.output,
                    cost_usd(model, tokens),
                ),
            )


def usage(database: Database, run_id: str, agent: str) -> tuple[int, int, Decimal]:
    """Input tokens, output tokens and US dollars that the judge of an agent cost in a run."""
    with database.transaction() as db:
        db.execute(
            "select coalesce(sum(input_tokens), 0) as i, coalesce(sum(output_tokens), 0) as o,"
            " coalesce(sum(cost_usd), 0) as usd from results.judgements where run_id = %s and agent = %s",
            (run_id, agent),
        )
        row: dict[str, Any] = db.fetchone() or {}
    return int(row["i"]), int(row["o"]), Decimal(row["usd"])
