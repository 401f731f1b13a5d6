"""Runs and the agents in them: what was asked for, with which data and code, and how it ended."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from eval_pipeline.errors import ConfigError
from eval_pipeline.results.database import Cursor, Database
from eval_pipeline.values import canonical_text


@dataclass(frozen=True, slots=True)
class RunRow:
    """One root run. ``partial``: by its selection it cannot be a whole board. Times are UTC."""

    run_id: str
    created_at: datetime
    partial: bool
    model: str | None
    trials: int
    selection: Mapping[str, Any]
    finished_at: datetime | None = None
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent's share of a run: with which data and code it ran, and with which evaluators it was scored.

    ``scored_digest`` is the digest of the dataset that the scores were made with; ``problems`` make its row red by
    themselves (a broken rule that is not about one example).
    """

    agent: str
    dataset_digest: str
    code_version: str
    n_examples: int
    n_selected: int
    evaluators_digest: str | None = None
    scored_digest: str | None = None
    problems: tuple[str, ...] = ()


def start(database: Database, run: RunRow, agents: Sequence[AgentRow]) -> None:
    """Records what is about to run. A run that is there already (a resume) keeps its row and counts as unfinished."""
    with database.transaction() as db:
        db.execute(
            "insert into results.runs (run_id, created_at, partial, model, trials, selection)"
            " values (%s, %s, %s, %s, %s, %s)"
            " on conflict (run_id) do update set finished_at = null, interrupted = false",
            (run.run_id, run.created_at, run.partial, run.model, run.trials, canonical_text(run.selection)),
        )
        for row in agents:
            db.execute(
                "insert into results.run_agents"
                " (run_id, agent, dataset_digest, code_version, n_examples, n_selected, problems)"
                " values (%s, %s, %s, %s, %s, %s, %s) on conflict (run_id, agent) do nothing",
                (
                    run.run_id,
                    row.agent,
                    row.dataset_digest,
                    row.code_version,
                    row.n_examples,
                    row.n_selected,
                    json.dumps(list(row.problems)),
                ),
            )


def finish(database: Database, run_id: str, *, interrupted: bool) -> None:
    """Records that a run came to its end, or was interrupted."""
    with database.transaction() as db:
        db.execute(
            "update results.runs set finished_at = now(), interrupted = %s where run_id = %s", (interrupted, run_id)
        )


def replace_problems(database: Database, run_id: str, agent: str, prefix: str, problems: Sequence[str]) -> None:
    """Puts these problems of an agent in the place of those that begin with ``prefix``; the others stay."""
    with database.transaction() as db:
        before = _locked_problems(db, run_id, agent)
        kept = [*(item for item in before if not item.startswith(prefix)), *problems]
        _set_problems(db, run_id, agent, kept)


def add_problem(database: Database, run_id: str, agent: str, problem: str) -> None:
    """Adds a problem to those of an agent, unless it is there already."""
    with database.transaction() as db:
        before = _locked_problems(db, run_id, agent)
        if problem not in before:
            _set_problems(db, run_id, agent, [*before, problem])


def _locked_problems(db: Cursor, run_id: str, agent: str) -> list[str]:
    db.execute(
        "select problems from results.run_agents where run_id = %s and agent = %s for no key update", (run_id, agent)
    )
    row = db.fetchone()
    return list(row["problems"]) if row else []


def _set_problems(db: Cursor, run_id: str, agent: str, problems: Sequence[str]) -> None:
    db.execute(
        "update results.run_agents set problems = %s where run_id = %s and agent = %s",
        (json.dumps(list(problems)), run_id, agent),
    )


def get(database: Database, run_id: str = "latest") -> RunRow:
    """A run by id, or the latest one. Raises ConfigError when there is none."""
    with database.transaction() as db:
        if run_id == "latest":
            db.execute("select * from results.runs order by created_at desc limit 1")
        else:
            db.execute("select * from results.runs where run_id = %s", (run_id,))
        row = db.fetchone()
    if row is None:
        raise ConfigError("there is no run yet" if run_id == "latest" else f"there is no run {run_id}")
    return RunRow(**row)


def before(database: Database, run_id: str) -> RunRow:
    """The latest run before this one, which need not be recorded yet. Raises ConfigError when there is none."""
    with database.transaction() as db:
        db.execute(
            "select * from results.runs where created_at <"
            " coalesce((select created_at from results.runs where run_id = %s), 'infinity')"
            " order by created_at desc limit 1",
            (run_id,),
        )
        row = db.fetchone()
    if row is None:
        raise ConfigError("there is no earlier run")
    return RunRow(**row)


def exists(database: Database, run_id: str) -> bool:
    """Whether a run of this id was recorded."""
    with database.transaction() as db:
        db.execute("select 1 from results.runs where run_id = %s", (run_id,))
        return db.fetchone() is not None


def agents(database: Database, run_id: str) -> tuple[AgentRow, ...]:
    """The agents of a run by name."""
    with database.transaction() as db:
        db.execute(
            "select agent, dataset_digest, code_version, n_examples, n_selected, evaluators_digest, scored_digest,"
            " problems from results.run_agents where run_id = %s order by agent",
            (run_id,),
        )
        return tuple(AgentRow(**{**row, "problems": tuple(row["problems"])}) for row in db.fetchall())
