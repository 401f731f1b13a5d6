"""The gate says yes to a board that is green, whole and current, and tells every reason why not."""

from dataclasses import replace
from typing import Any

import pytest

from bookkeeping.models import PROVIDER_ENDPOINTS
from eval_pipeline.errors import ConfigError
from eval_pipeline.gate import GateDecision, decide_gate
from eval_pipeline.grading import score_agent
from eval_pipeline.outcome import ModelIdentity, Outcome, Status
from eval_pipeline.results import Database, outcomes, runs
from eval_pipeline.suite import AgentSuite
from tests.build import RUN, agent_row, dataset, example, outcome, run_row, suite

SUITE = suite(example(), example("example-2"))
RIGHT = (outcome(), outcome("example-2", position=1))


@pytest.fixture
def database(results: Database) -> Database:
    return results


def run(database: Database, *stored: Outcome, agent: AgentSuite = SUITE, **changes: Any) -> None:
    """A whole run of the sample agent, scored."""
    n = len(agent.dataset.examples)
    row = agent_row(
        dataset_digest=agent.dataset.digest, code_version=agent.code_version(None), n_examples=n, n_selected=n
    )
    runs.start(database, run_row(**changes), [row])
    outcomes.add(database, map(outcomes.encoded, stored or RIGHT))
    score_agent(agent, database, RUN)
    runs.finish(database, RUN, interrupted=False)


def gate(database: Database, agent: AgentSuite = SUITE, **options: Any) -> GateDecision:
    return decide_gate(database, [agent], **options)


def test_a_green_whole_and_current_board_is_released(database: Database) -> None:
    run(database)
    assert gate(database, strict=True) == GateDecision(RUN, True, ())


def test_a_red_board_is_not(database: Database) -> None:
    run(database, RIGHT[0], replace(RIGHT[1], outputs={"answer": "five", "n_steps": 1}))
    assert gate(database) == GateDecision(RUN, False, ("the board is RED",))


def test_an_unproven_board_is_not(database: Database) -> None:
    skips = [
        outcome(item.example_id, position=item.position, status=Status.SKIPPED, skip_reason="no model")
        for item in RIGHT
    ]
    run(database, *skips)
    assert gate(database).reasons == ("the board is UNPROVEN",)


def test_a_skip_is_a_reason_under_strict_only(database: Database) -> None:
    run(database, RIGHT[0], outcome("example-2", position=1, status=Status.SKIPPED))
    assert gate(database).released
    assert gate(database, strict=True).reasons == ("1 examples were skipped, and strict allows none",)


def test_a_partial_board_is_not(database: Database) -> None:
    run(database, partial=True)
    assert gate(database).reasons == ("the board is partial",)


def test_a_run_that_was_interrupted_or_has_not_ended_is_not(database: Database) -> None:
    run(database)
    runs.finish(database, RUN, interrupted=True)
    assert gate(database).reasons == ("the board is partial",)
    runs.start(database, run_row(), [])
    assert gate(database).reasons == ("the board is partial",)


def test_an_example_without_a_verdict_is_a_reason(database: Database) -> None:
    run(database, RIGHT[0])
    assert gate(database).reasons == ("the board is RED", "the board is partial")


def test_an_agent_that_is_not_on_the_board_is_a_reason(database: Database) -> None:
    run(database)
    other = suite(entry=replace(SUITE.entry, name="other"))
    assert decide_gate(database, [SUITE, other]).reasons == ("other is not on the board",)


def test_a_dataset_that_changed_since_is_a_reason(database: Database) -> None:
    run(database)
    changed = replace(SUITE, dataset=dataset(example(tags=["new"]), example("example-2")))
    assert gate(database, changed).reasons == ("sampler: the dataset has changed since the run",)


def test_scores_of_another_version_of_the_dataset_are_a_reason(database: Database) -> None:
    """Mixed: outcomes of one dataset, scored by the expectations of another."""
    run(database)
    changed = replace(SUITE, dataset=dataset(example(tags=["new"]), example("example-2")))
    score_agent(changed, database, RUN)
    mixed = "sampler: outcomes and scores are of different versions of the dataset"
    assert gate(database).reasons == (mixed,)
    assert gate(database, changed).reasons == ("sampler: the dataset has changed since the run", mixed)


def test_code_that_changed_since_is_a_reason(database: Database) -> None:
    run(database)
    other_code = replace(SUITE, entry=replace(SUITE.entry, target="tests.test_gate"))
    assert gate(database, other_code).reasons == ("sampler: the agent's code has changed since the run",)


def test_evaluators_that_changed_since_are_a_reason(database: Database) -> None:
    run(database)
    others = replace(SUITE, entry=replace(SUITE.entry, evaluators="tests.test_gate"))
    assert gate(database, others).reasons == (
        "sampler: the evaluators have changed since the scores (eval-pipeline score)",
    )


def test_an_endpoint_that_is_not_the_providers_own_is_a_reason_unless_it_is_allowed(database: Database) -> None:
    elsewhere = ModelIdentity("m", "http://localhost:8080", None)
    run(database, replace(RIGHT[0], model=elsewhere), RIGHT[1])
    assert gate(database).reasons == (
        "sampler: the model endpoint http://localhost:8080 is not the provider's own (EVAL_ALLOWED_ENDPOINTS)",
    )
    assert gate(database, allowed_endpoints=["http://localhost:8080"]).released


def test_the_providers_own_endpoints_are_allowed(database: Database) -> None:
    names = sorted(PROVIDER_ENDPOINTS)
    run(database, *(replace(item, model=ModelIdentity("m", names[0], None)) for item in RIGHT))
    assert gate(database).released


def test_every_reason_is_told(database: Database) -> None:
    run(database, RIGHT[0], replace(RIGHT[1], outputs={}), partial=True)
    changed = replace(SUITE, dataset=dataset(example(tags=["new"]), example("example-2")))
    assert gate(database, changed).reasons == (
        "the board is RED",
        "the board is partial",
        "sampler: the dataset has changed since the run",
    )


def test_the_gate_reads_verdicts_and_not_what_was_published(database: Database) -> None:
    run(database)
    with database.transaction() as db:
        db.execute("insert into results.boards (run_id, state, partial, board) values (%s, 'RED', true, '{}')", (RUN,))
    assert gate(database).released


def test_without_a_run_there_is_no_decision(database: Database) -> None:
    with pytest.raises(ConfigError, match="there is no run yet"):
        gate(database)
