"""This harness under the peers' workload: the same steps that ``eval-pipeline run`` takes, over a real database."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.echo import KEYS, expected
from bench.echo.evaluators import exact_a, exact_b, exact_c
from eval_pipeline.board import Board
from eval_pipeline.dataset import Dataset, Example
from eval_pipeline.grading import score_agent
from eval_pipeline.pipeline import Plan, Request, publish_board, run_one_agent, start
from eval_pipeline.registry import agent
from eval_pipeline.results import outcomes
from eval_pipeline.results.database import Database
from eval_pipeline.selection import Selection
from eval_pipeline.settings import Settings
from eval_pipeline.suite import AgentSuite
from eval_pipeline.target import Target

ENTRY = agent("bench.echo", target="bench.echo.target", evaluators="bench.echo.evaluators")
CONCURRENCY = 16


@dataclass(frozen=True, slots=True)
class Phases:
    """Wall seconds of a run by step: running with every outcome durable, scoring, building and keeping the board."""

    run: float
    score: float
    board: float

    @property
    def total(self) -> float:
        """All three."""
        return self.run + self.score + self.board


def examples(n: int, **inputs: Any) -> tuple[Example, ...]:
    """The workload of the peers: number ``i`` in, three texts expected."""
    return tuple(Example(id=str(i), inputs={"i": i, **inputs}, expected=dict(expected(i))) for i in range(n))


def plan_of(target: Target, cases: tuple[Example, ...], run_id: str = "bench") -> Plan:
    """A run of these examples through ``target``, as the command line would plan it."""
    folder = Path("bench")
    dataset = Dataset(ENTRY.name, folder, cases, {example.id: folder for example in cases})
    suite = AgentSuite(ENTRY, dataset, target, (exact_a, exact_b, exact_c))
    return Plan(run_id, Request(Selection((ENTRY.name,))), (suite,), {ENTRY.name: cases})


def run(
    database: Database, plan: Plan, concurrency: int = CONCURRENCY, *, on_ran: Callable[[], None] = lambda: None
) -> tuple[Phases, Board]:
    """Runs, scores and publishes, and checks that every score is there and 1.0. ``on_ran``: all outcomes are stored."""
    settings = Settings(concurrency=concurrency)
    began = perf_counter()
    start(database, plan)
    run_one_agent(database, plan, ENTRY.name, settings)
    outcomes.version(database, plan.run_id, ENTRY.name)
    ran = perf_counter()
    on_ran()
    score_agent(plan.suite[0], database, plan.run_id)
    scored = perf_counter()
    board = publish_board(database, plan.run_id)
    done = perf_counter()
    require_perfect(board, len(plan.chosen[ENTRY.name]))
    return Phases(ran - began, scored - ran, done - scored), board


def require_perfect(board: Board, n: int) -> None:
    """Raises when a score is missing or below 1.0: then what was measured was not the work."""
    row = next(row for row in board.agents if row.agent == ENTRY.name)
    scored = {f"{key}_correct": n for key in KEYS}
    if row.verdicts["PASS"] != n or dict(row.n_scored) != scored or board.partial:
        raise RuntimeError(f"not the whole work was done: {row}")
