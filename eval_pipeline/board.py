"""The board: the verdicts of all agents in one run, aggregated from what is stored. RED, UNPROVEN or GREEN.

An agent is RED when one of its verdicts is red or it did not report, UNPROVEN when none of its examples was graded,
else GREEN. The board is RED if any agent is, else UNPROVEN if any is, else GREEN. Errors and excused failures stay in
the denominator of the pass rate; only skips leave it, and how much was graded of all is on every row.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from bookkeeping.models import PROVIDER_ENDPOINTS
from eval_pipeline.results import judgements, outcomes, runs, scores
from eval_pipeline.results.database import Database
from eval_pipeline.results.runs import AgentRow, RunRow
from eval_pipeline.results.scores import Graded
from eval_pipeline.statistics import wilson
from eval_pipeline.verdict import Verdict


class State(StrEnum):
    """The state of an agent's row and of the whole board."""

    GREEN = "GREEN"
    RED = "RED"
    UNPROVEN = "UNPROVEN"


@dataclass(frozen=True, slots=True)
class TrialShare:
    """How many of all trials passed, with the 95 % interval (Wilson), and the examples that passed in some only.

    Trials of one example resemble one another, so this interval is narrower than what is known of new examples: that
    is the interval of the pass rate.
    """

    passed: int
    of: int
    interval: tuple[float, float]
    flaky: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AgentBoard:
    """One agent's row.

    ``n_examples`` is the whole dataset, ``n_graded`` how many of it have scores, ``verdicts`` counts by verdict.
    ``pass_rate`` is passes over all that was not skipped, None when that is nothing, with its 95 % interval (Wilson).
    ``score_means`` are means by key, ``n_scored`` over how many scores each goes. ``usage`` has tokens and US dollars,
    ``seconds`` the median and the 95th percentile of an attempt. ``endpoints`` are those of the models that answered.
    ``problems`` make the row red by themselves. A row that does not count (of a pack) is shown apart: it plays no part
    in the board's state. ``trials`` is there when examples were run more than once.
    """

    agent: str
    state: State
    dataset_digest: str
    n_examples: int
    n_graded: int
    verdicts: Mapping[str, int]
    n_xpass_keys: int
    pass_rate: float | None
    pass_rate_interval: tuple[float, float]
    score_means: Mapping[str, float]
    n_scored: Mapping[str, int]
    n_unanswered: int
    usage: Mapping[str, Any]
    seconds: Mapping[str, float | None]
    endpoints: Sequence[str] = ()
    problems: Sequence[str] = ()
    sensitivity: float | None = None
    counts: bool = True
    trials: TrialShare | None = None

    @property
    def foreign_endpoints(self) -> tuple[str, ...]:
        """The endpoints at which a model answered that are not the provider's own."""
        return tuple(endpoint for endpoint in self.endpoints if endpoint not in PROVIDER_ENDPOINTS)


@dataclass(frozen=True, slots=True)
class ExampleBoard:
    """One example's line: its verdict, why, and its scores by key (the worst trial's where there are several)."""

    agent: str
    id: str
    verdict: Verdict
    reason: str
    scores: Mapping[str, float]
    failed: Sequence[str]
    excused: Sequence[str]
    xpass: Sequence[str]
    unanswered: Sequence[str] = ()
    hints: Sequence[str] = ()
    n_trials: int = 1
    n_passed: int = 0

    def as_json(self) -> dict[str, Any]:
        """A JSON value; its lists and objects are those of this line, not copies."""
        return {name: getattr(self, name) for name in _LINE}


_LINE = tuple(item.name for item in fields(ExampleBoard))


@dataclass(frozen=True, slots=True)
class Board:
    """All agents of one run. ``partial``: not everything of the agents in it was run. Times are UTC."""

    run_id: str
    state: State
    partial: bool
    model: str | None
    started_at: datetime
    finished_at: datetime | None
    agents: Sequence[AgentBoard]
    examples: Sequence[ExampleBoard]
    trials: int = 1
    interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        """A JSON value, as ``board --json`` prints it."""
        return {**self._head(), "examples": [item.as_json() for item in self.examples]}

    def as_text(self) -> str:
        """The same as JSON text, made line by line: of a large board no second copy is held as a value."""
        head = json.dumps(self._head(), allow_nan=False)
        examples = ",\n".join(json.dumps(item.as_json(), allow_nan=False) for item in self.examples)
        return f'{head[:-1]}, "examples": [{examples}]}}'

    def _head(self) -> dict[str, Any]:
        value: dict[str, Any] = {name: getattr(self, name) for name in _HEAD}
        value["started_at"] = self.started_at.isoformat()
        value["finished_at"] = self.finished_at.isoformat() if self.finished_at else None
        value["agents"] = [asdict(row) for row in self.agents]
        return value

    @property
    def n_skipped(self) -> int:
        """How many examples were skipped."""
        return sum(row.verdicts[Verdict.SKIP] for row in self.agents if row.counts)

    def is_acceptable(self, *, strict: bool) -> bool:
        """What ``run`` answers for: not red and not cut off, and under strict nothing skipped."""
        return self.state is not State.RED and not self.interrupted and not (strict and self.n_skipped)


_HEAD = tuple(item.name for item in fields(Board) if item.name != "examples")


def agent_state(verdicts: Mapping[Verdict, int], n_graded: int, problems: Sequence[str]) -> State:
    """The state of one row."""
    if problems or any(n and verdict.is_red for verdict, n in verdicts.items()):
        return State.RED
    return State.GREEN if n_graded else State.UNPROVEN


def board_state(states: Sequence[State]) -> State:
    """The state of a board; one without rows proves nothing."""
    if State.RED in states:
        return State.RED
    return State.UNPROVEN if State.UNPROVEN in states or not states else State.GREEN


def build_board(database: Database, run_id: str, *, packs_count: bool = False) -> Board:
    """Reads a run's verdicts and aggregates them. Raises ConfigError when there is no such run.

    ``packs_count``: the rows of packs take part in the board's state.
    """
    run = runs.get(database, run_id)
    rows = runs.agents(database, run.run_id)
    graded = {row.agent: scores.read(database, run.run_id, row.agent) for row in rows}
    agents = [_agent_board(database, run, row, graded[row.agent]) for row in rows]
    agents += [_did_not_report(name) for name in run.selection.get("agents", ()) if name not in graded]
    agents = [replace(row, counts=packs_count or "@" not in row.agent) for row in agents]
    unfinished = any(_is_unfinished(row, graded[row.agent], run.trials) for row in rows)
    return Board(
        run.run_id,
        board_state([row.state for row in agents if row.counts]),
        run.partial or run.interrupted or run.finished_at is None or unfinished,
        run.model,
        run.created_at,
        run.finished_at,
        agents,
        [_example_board(row.agent, item) for row in rows for item in graded[row.agent]],
        run.trials,
        run.interrupted,
    )


def _is_unfinished(row: AgentRow, graded: Sequence[Graded], trials: int) -> bool:
    """Whether an example has no verdict, or one over fewer trials than were asked for."""
    return len(graded) < row.n_selected or any(0 < item.decision.n_trials < trials for item in graded)


def _agent_board(database: Database, run: RunRow, row: AgentRow, graded: Sequence[Graded]) -> AgentBoard:
    counts = Counter(item.decision.verdict for item in graded)
    n_graded = len(graded) - counts[Verdict.SKIP] - counts[Verdict.ERROR]
    n_counted = len(graded) - counts[Verdict.SKIP]
    problems = list(row.problems)
    if len(graded) < row.n_selected and run.finished_at is not None and not run.interrupted:
        missing = f"{row.n_selected - len(graded)} of {row.n_selected} examples did not report"
        problems.append(missing if graded else "did not report")
    used = outcomes.resources(database, run.run_id, row.agent)
    judge_input, judge_output, judge_usd = judgements.usage(database, run.run_id, row.agent)
    means, n_scored = _means(graded)
    return AgentBoard(
        row.agent,
        agent_state(counts, n_graded, problems),
        row.dataset_digest,
        row.n_examples,
        n_graded,
        {verdict.value: counts[verdict] for verdict in Verdict},
        sum(len(item.decision.xpass) for item in graded),
        counts[Verdict.PASS] / n_counted if n_counted else None,
        wilson(counts[Verdict.PASS], n_counted),
        means,
        n_scored,
        sum(len(item.decision.unanswered) for item in graded),
        {
            "input_tokens": int(used["input_tokens"]) + judge_input,
            "output_tokens": int(used["output_tokens"]) + judge_output,
            "cost_usd": format((used["cost_usd"] + judge_usd).normalize(), "f"),
        },
        {"p50": used["p50"], "p95": used["p95"]},
        tuple(used["endpoints"] or ()),
        tuple(problems),
        trials=_trial_share(graded) if run.trials > 1 else None,
    )


def _trial_share(graded: Sequence[Graded]) -> TrialShare:
    decisions = {item.example_id: item.decision for item in graded if item.decision.verdict is not Verdict.SKIP}
    passed, of = sum(d.n_passed for d in decisions.values()), sum(d.n_trials for d in decisions.values())
    flaky = {name: d.n_passed for name, d in decisions.items() if 0 < d.n_passed < d.n_trials}
    return TrialShare(passed, of, wilson(passed, of), flaky)


def _did_not_report(agent: str) -> AgentBoard:
    none = {verdict.value: 0 for verdict in Verdict}
    usage = {"input_tokens": 0, "output_tokens": 0, "cost_usd": "0"}
    seconds = {"p50": None, "p95": None}
    problems = ("did not report",)
    return AgentBoard(agent, State.RED, "", 0, 0, none, 0, None, (0.0, 1.0), {}, {}, 0, usage, seconds, (), problems)


def _means(graded: Sequence[Graded]) -> tuple[dict[str, float], dict[str, int]]:
    values: dict[str, list[float]] = {}
    for item in graded:
        for _, score in item.scores:
            values.setdefault(score.key, []).append(score.value)
    keys = sorted(values)
    return {key: sum(values[key]) / len(values[key]) for key in keys}, {key: len(values[key]) for key in keys}


def _example_board(agent: str, item: Graded) -> ExampleBoard:
    decision = item.decision
    lowest = {score.key: score.value for _, score in item.scores}
    if decision.n_trials > 1:
        for _, score in item.scores:
            lowest[score.key] = min(score.value, lowest[score.key])
    return ExampleBoard(
        agent,
        item.example_id,
        decision.verdict,
        decision.reason,
        lowest,
        decision.failed,
        tuple(excused.key for excused in decision.excused),
        decision.xpass,
        decision.unanswered,
        decision.hints,
        decision.n_trials,
        decision.n_passed,
    )
