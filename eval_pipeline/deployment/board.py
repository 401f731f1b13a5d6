"""The board of a run, and the release gate behind it: the one place where a failed check blocks."""

import dagster as dg

from eval_pipeline.board import State
from eval_pipeline.deployment import metadata
from eval_pipeline.deployment.assets import key
from eval_pipeline.deployment.request import RunRequest
from eval_pipeline.deployment.watch import WATCH
from eval_pipeline.pipeline import gate_of, publish_board
from eval_pipeline.registry import AGENTS
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
    description="The verdicts of all agents in one run: GREEN, RED or UNPROVEN.",
)
def board(context: dg.AssetExecutionContext, request: RunRequest) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Builds the board from the stored verdicts and keeps it."""
    with request.database() as database:
        run_id = request.root_run(context, database)
        interrupted = WATCH.interrupted.is_set()
        result = publish_board(database, run_id, interrupted=interrupted, packs_count=settings().packs_count)
    strays = unregistered()
    return dg.MaterializeResult(
        metadata={
            "state": result.state.value,
            "partial": result.partial,
            "model": result.model or "none",
            "board": metadata.board_table(result),
            "red": metadata.red_examples(result),
            **metadata.numbers({"n_red": sum(item.verdict.is_red for item in result.examples)}),
        },
        check_results=[
            dg.AssetCheckResult(
                check_name="board_is_green",
                asset_key=BOARD,
                passed=result.state is State.GREEN and not result.partial,
                metadata={"state": result.state.value, "partial": result.partial},
            ),
            dg.AssetCheckResult(
                check_name="every_agent_is_registered",
                asset_key=BOARD,
                passed=not strays,
                metadata=metadata.offenders(strays),
            ),
        ],
    )


@dg.asset(key=GATE, group_name="board", deps=[BOARD], description="Materialized only when the agents may be released.")
def release_gate(context: dg.AssetExecutionContext, request: RunRequest) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Reads the board for itself; fails with every reason when the agents may not be released."""
    with request.database() as database:
        run_id = request.root_run(context, database)
        decision = gate_of(database, run_id, settings(), strict=request.is_strict)
    if not decision.released:
        raise dg.Failure(f"not released: {'; '.join(decision.reasons)}", allow_retries=False)
    return dg.MaterializeResult(metadata={"run": decision.run_id})
