"""The wire is the open door: a model that answered elsewhere than at its provider's is named on the board."""

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from eval_pipeline.board import build_board
from eval_pipeline.board_files import write_html
from eval_pipeline.board_text import print_board
from eval_pipeline.grading import score_agent
from eval_pipeline.outcome import ModelIdentity
from eval_pipeline.results import Database, outcomes, runs
from tests.build import RUN, agent_row, outcome, run_row, suite

SCRIPTED_SERVER = "http://127.0.0.1:8099"


def shown(results: Database, endpoint: str) -> str:
    """The board's text after a run whose model answered at this endpoint, and its page."""
    agent = suite()
    runs.start(results, run_row(), [agent_row(dataset_digest=agent.dataset.digest)])
    stored = replace(outcome(), model=ModelIdentity("claude", endpoint, "claude-returned"))
    outcomes.add(results, [outcomes.encoded(stored)])
    score_agent(agent, results, RUN)
    runs.finish(results, RUN, interrupted=False)
    told = io.StringIO()
    print_board(build_board(results, RUN), Console(file=told, width=200))
    return told.getvalue()


def test_an_endpoint_that_is_not_the_providers_own_is_named_on_the_board(results: Database) -> None:
    told = shown(results, SCRIPTED_SERVER)
    assert f"sampler: the model answered at {SCRIPTED_SERVER}, which is not the provider's own endpoint" in told


def test_it_is_named_on_the_page_too(results: Database, tmp_path: Path) -> None:

    shown(results, SCRIPTED_SERVER)
    page = tmp_path / "board.html"
    write_html(build_board(results, RUN), page)
    assert f"model endpoint {SCRIPTED_SERVER}" in page.read_text("utf-8")


def test_the_providers_own_endpoint_needs_no_word(results: Database) -> None:
    assert "endpoint" not in shown(results, "https://api.anthropic.com")
