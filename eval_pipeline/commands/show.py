"""``score``, ``board`` and ``gate``: reading again what a run has left."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from eval_pipeline.board import Board, build_board
from eval_pipeline.board_text import print_board
from eval_pipeline.errors import NOT_GREEN, OK
from eval_pipeline.packs import load_packs, packs_of
from eval_pipeline.pipeline import gate_of, publish_board, score_agents
from eval_pipeline.printed import stdout_to_stderr
from eval_pipeline.results import experiments, runs
from eval_pipeline.results.database import Database
from eval_pipeline.settings import settings
from eval_pipeline.slices import Slice, slices
from eval_pipeline.storage import storage
from eval_pipeline.suite import load_suite
from eval_pipeline.terminal import print_json, visible


def score(run_id: str, out: Console, *, strict: bool, as_json: bool) -> int:
    """Scores a run's stored outcomes with the evaluators of now and shows the board."""
    with storage(settings()) as where, Database(where.database_url) as database, stdout_to_stderr():
        run = runs.get(database, run_id)
        score_agents(database, run.run_id, settings())
        count = settings().packs_count
        board = publish_board(database, run.run_id, interrupted=run.interrupted, packs_count=count)
    _print(board, out, as_json=as_json)
    return OK if board.is_acceptable(strict=strict or settings().strict) else NOT_GREEN


def show_board(
    run_id: str, out: Console, *, as_json: bool, html: Path | None, junit: Path | None, by_tag: bool = False
) -> int:
    """Shows a run's board, or its slices by tag, and writes it as HTML or JUnit XML where asked for."""
    chosen = settings()
    with storage(chosen) as where, Database(where.database_url) as database:
        board = build_board(database, run_id, packs_count=chosen.packs_count)
        folders = packs_of(runs.get(database, run_id).selection)
        addresses = experiments.of_run(database, board.run_id)
    if html is not None or junit is not None:
        from eval_pipeline.board_files import write_html, write_junit

        if html is not None:
            write_html(board, html)
        if junit is not None:
            write_junit(board, junit)
    if by_tag:
        suite = load_suite(chosen.datasets)
        _print_slices(slices(board, (*suite, *load_packs(suite, folders, chosen.datasets))), out, as_json=as_json)
        return OK
    if as_json:
        print_json(out, board.as_json() | ({"experiments": addresses} if addresses else {}))
        return OK
    print_board(board, out)
    for agent, address in addresses.items():
        out.print(f"{agent} at LangSmith: {address}", markup=False, soft_wrap=True)
    return OK


def _print_slices(found: Iterable[Slice], out: Console, *, as_json: bool) -> None:
    if as_json:
        print_json(out, [asdict(item) for item in found])
        return
    table = Table(box=None, pad_edge=False, show_edge=False, highlight=False)
    for heading in ("agent", "tag"):
        table.add_column(heading, no_wrap=True)
    for heading in ("graded of all", "PASS", "share"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("means")
    for item in found:
        low, high = item.interval
        means = ", ".join(f"{key.removesuffix('_correct')} {mean:.2f}" for key, mean in item.score_means.items())
        share = f"{low:.2f} to {high:.2f}" if item.n_graded else "-"
        counted = f"{item.n_graded} of {item.n_examples}"
        table.add_row(item.agent, visible(item.tag), counted, str(item.n_passed), share, means)
    out.print(table)


def gate(run_id: str, out: Console, *, strict: bool, as_json: bool) -> int:
    """The release decision: 0 only for a board that is GREEN, whole and current."""
    chosen = settings()
    with storage(chosen) as where, Database(where.database_url) as database:
        decision = gate_of(database, run_id, chosen, strict=strict or chosen.strict)
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
