"""The release decision drawn from a board: yes only for one that is GREEN, whole and current.

The gate reads the board for itself from the stored verdicts, whatever was printed or published before, and compares
what the run was made with to what is here now.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bookkeeping.models import PROVIDER_ENDPOINTS
from eval_pipeline.board import Board, State, build_board
from eval_pipeline.results import runs
from eval_pipeline.results.database import Database
from eval_pipeline.results.runs import AgentRow
from eval_pipeline.suite import AgentSuite


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether the agents may be released, and every reason why not."""

    run_id: str
    released: bool
    reasons: tuple[str, ...]


def decide_gate(
    database: Database,
    suite: Sequence[AgentSuite],
    run_id: str = "latest",
    *,
    strict: bool = False,
    allowed_endpoints: Sequence[str] = (),
    packs_count: bool = False,
) -> GateDecision:
    """The decision for a run. Raises ConfigError when there is no such run: no board, no decision."""
    run = runs.get(database, run_id)
    board = build_board(database, run.run_id, packs_count=packs_count)
    rows = {row.agent: row for row in runs.agents(database, run.run_id)}
    reasons = [
        *_about_the_board(board, strict=strict),
        *_about_the_whole(board, suite),
        *(reason for item in suite if item.name in rows for reason in _about_now(rows[item.name], item, run.model)),
        *_about_endpoints(board, allowed_endpoints),
    ]
    return GateDecision(run.run_id, not reasons, tuple(reasons))


def _about_the_board(board: Board, *, strict: bool) -> Iterator[str]:
    if board.state is not State.GREEN:
        yield f"the board is {board.state}"
    if board.partial:
        yield "the board is partial"
    if strict and board.n_skipped:
        yield f"{board.n_skipped} examples were skipped, and strict allows none"


def _about_the_whole(board: Board, suite: Sequence[AgentSuite]) -> Iterator[str]:
    there = {row.agent for row in board.agents}
    for item in suite:
        if item.name not in there:
            yield f"{item.name} is not on the board"


def _about_now(row: AgentRow, suite: AgentSuite, model: str | None) -> Iterator[str]:
    """What makes a board stale: it was made with other data, another agent or other evaluators than those of now."""
    if row.dataset_digest != suite.dataset.digest:
        yield f"{row.agent}: the dataset has changed since the run"
    if row.code_version != suite.code_version(model):
        yield f"{row.agent}: the agent's code has changed since the run"
    if row.evaluators_digest != suite.evaluators_digest:
        yield f"{row.agent}: the evaluators have changed since the scores (eval-pipeline score)"
    if row.scored_digest != row.dataset_digest:
        yield f"{row.agent}: outcomes and scores are of different versions of the dataset"


def _about_endpoints(board: Board, allowed: Sequence[str]) -> Iterator[str]:
    for row in board.agents:
        for endpoint in row.endpoints:
            if endpoint not in PROVIDER_ENDPOINTS and endpoint not in allowed:
                yield f"{row.agent}: the model endpoint {endpoint} is not the provider's own (EVAL_ALLOWED_ENDPOINTS)"
