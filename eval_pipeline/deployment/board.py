"""The board of a run, and the release gate behind it: the one place where a failed check blocks."""

from datetime import UTC
from typing import Any

import dagster as dg

from eval_pipeline.board import Board, State
from eval_pipeline.deployment import metadata
from eval_pipeline.deployment.assets import key
from eval_pipeline.deployment.request import RunRequest
from eval_pipeline.deployment.sources import code_links, own_source
from eval_pipeline.deployment.watch import WATCH
from eval_pipeline.errors import EvalPipelineError, one_line
from eval_pipeline.pipeline import gate_of, publish_board
from eval_pipeline.registry import AGENTS
from eval_pipeline.results import history
from eval_pipeline.results.database import Database
from eval_pipeline.rules.static import unregistered
from eval_pipeline.settings import settings

BOARD = dg.AssetKey("board")
GATE = dg.AssetKey("release_gate")


@dg.asset(
    key=BOARD,
    group_name="board",
    deps=[key(entry.name, "scores") for entry in AGENTS],
    check_specs=[
        dg.AssetCheckSpec("board_is_green", asset=BOARD, blocking=True, description="GREEN and whole, else no release"),
        dg.AssetCheckSpec("every_agent_is_registered", asset=BOARD, description="no agent is left out of the registry"),
    ],
    metadata=code_links([own_source("board", "board.py")]),
    kinds={"table"},
    description=(
        "The verdicts of all agents in one run. RED: an example failed, or its recorded defect appears fixed (XPASS), "
        "or an agent has a problem. UNPROVEN: of an agent nothing was graded. GREEN: neither."
    ),
)
def board(context: dg.AssetExecutionContext, request: RunRequest) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Builds the board from the stored verdicts and keeps it."""
    with request.database() as database:
        run_id = request.root_run(context, database)
        interrupted = WATCH.interrupted.is_set()
        result = publish_board(database, run_id, interrupted=interrupted, packs_count=settings().packs_count)
        page = _page(database, result, context.run.run_id, strict=request.is_strict)
    strays = unregistered()
    return dg.MaterializeResult(
        metadata=page,
        check_results=[
            dg.AssetCheckResult(
                check_name="board_is_green",
                asset_key=BOARD,
                passed=result.state is State.GREEN and not result.partial,
                metadata={name: page[name] for name in ("state", "gate", "agents", "n_red")},
            ),
            dg.AssetCheckResult(
                check_name="every_agent_is_registered",
                asset_key=BOARD,
                passed=not strays,
                metadata=metadata.offenders(strays),
            ),
        ],
    )


def _page(database: Database, board: Board, run: str, *, strict: bool) -> dict[str, Any]:
    """The board as its page shows it: what an evaluator on call asks first stands first. ``run``: Dagster's."""
    red = [(item.agent, item.id) for item in board.examples if item.verdict.is_red]
    problems = metadata.problem_table(board)
    return {
        "state": _state(database, board),
        "gate": _gate(database, board.run_id, strict=strict),
        "agents": metadata.board_table(board),
        **({"problems": problems} if problems.records else {}),
        "red": metadata.red_examples(board, before=history.verdicts_before(database, board.run_id, red)),
        "look": dg.MetadataValue.md(f"`eval-pipeline trace AGENT/EXAMPLE --run {board.run_id}`"),
        "run": dg.MetadataValue.dagster_run(run),
        "model": board.model or "none",
        **metadata.board_numbers(board),
    }


def _state(database: Database, board: Board) -> str:
    told = f"{board.state.value}, partial" if board.partial else board.state.value
    if board.state is State.GREEN:
        return told
    green = history.last_green(database, board.run_id)
    return (
        f"{told}; last GREEN {green.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if green else f"{told}; no GREEN board before"
    )


def _gate(database: Database, run_id: str, *, strict: bool) -> str:
    """What the gate would decide now. It is blocked behind a board that is not GREEN and cannot say so itself."""
    try:
        decision = gate_of(database, run_id, settings(), strict=strict)
    except EvalPipelineError as error:
        return f"cannot be decided: {one_line(error)}"
    return "may be released" if decision.released else f"not released: {'; '.join(decision.reasons)}"


@dg.asset(
    key=GATE,
    group_name="board",
    deps=[BOARD],
    metadata=code_links([own_source("gate", "gate.py")]),
    kinds={"python"},
    description="Materialized only when the agents may be released; else the reasons stand on the page of the board.",
)
def release_gate(context: dg.AssetExecutionContext, request: RunRequest) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Reads the board for itself; fails with every reason when the agents may not be released."""
    with request.database() as database:
        run_id = request.root_run(context, database)
        decision = gate_of(database, run_id, settings(), strict=request.is_strict)
    if not decision.released:
        raise dg.Failure(f"not released: {'; '.join(decision.reasons)}", allow_retries=False)
    return dg.MaterializeResult(metadata={"run": decision.run_id})
