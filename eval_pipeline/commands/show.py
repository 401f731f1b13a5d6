"""``score``, ``board`` and ``gate``: reading again what a run has left."""

from pathlib import Path

from rich.console import Console

from eval_pipeline.board import Board, build_board
from eval_pipeline.board_text import print_board
from eval_pipeline.errors import NOT_GREEN, OK
from eval_pipeline.gate import decide_gate
from eval_pipeline.pipeline import publish_board, score_agents, suite_of_gate
from eval_pipeline.printed import stdout_to_stderr
from eval_pipeline.results import runs
from eval_pipeline.results.database import Database
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage
from eval_pipeline.terminal import print_json


def score(run_id: str, out: Console, *, strict: bool, as_json: bool) -> int:
    """Scores a run's stored outcomes with the evaluators of now and shows the board."""
    with storage(settings()) as where, Database(where.database_url) as database, stdout_to_stderr():
        run = runs.get(database, run_id)
        score_agents(database, run.run_id, settings())
        count = settings().packs_count
        board = publish_board(database, run.run_id, interrupted=run.interrupted, packs_count=count)
    _print(board, out, as_json=as_json)
    return OK if board.is_acceptable(strict=strict or settings().strict) else NOT_GREEN


def show_board(run_id: str, out: Console, *, as_json: bool, html: Path | None, junit: Path | None) -> int:
    """Shows a run's board and writes it as HTML or JUnit XML where asked for."""
    with storage(settings()) as where, Database(where.database_url) as database:
        board = build_board(database, run_id, packs_count=settings().packs_count)
    if html is not None or junit is not None:
        from eval_pipeline.board_files import write_html, write_junit

        if html is not None:
            write_html(board, html)
        if junit is not None:
            write_junit(board, junit)
    _print(board, out, as_json=as_json)
    return OK


def gate(run_id: str, out: Console, *, strict: bool, as_json: bool) -> int:
    """The release decision: 0 only for a board that is GREEN, whole and current."""
    chosen = settings()
    with storage(chosen) as where, Database(where.database_url) as database:
        decision = decide_gate(
            database,
            suite_of_gate(database, run_id, chosen),
            run_id,
            strict=strict or chosen.strict,
            allowed_endpoints=chosen.allowed_endpoints,
            packs_count=chosen.packs_count,
        )
    if as_json:
        value = {"run_id": decision.run_id, "released": decision.released, "reasons": list(decision.reasons)}
        print_json(out, value)
    else:
        out.print(f"{'released' if decision.released else 'not released'}: run {decision.run_id}", highlight=False)
        for reason in decision.reasons:
            out.print(f"  {reason}", markup=False, highlight=False, soft_wrap=True)
    return OK if decision.released else NOT_GREEN


def _print(board: Board, out: Console, *, as_json: bool) -> None:
    if as_json:
        print_json(out, board.as_json())
    else:
        print_board(board, out)
