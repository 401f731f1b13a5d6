"""Stored outcomes become verdicts, by the evaluators and the dataset of now."""

from dataclasses import replace
from typing import Any

import pytest

from eval_pipeline.grading import grade_outcomes, score_agent
from eval_pipeline.outcome import Failure, FailureKind, Outcome, Status
from eval_pipeline.results import Database, outcomes, runs, scores
from eval_pipeline.results.scores import Graded
from eval_pipeline.suite import AgentSuite
from eval_pipeline.verdict import Score, Verdict
from tests.build import AGENT, RUN, example, grader, marker, outcome, raising, start_run, suite

WRONG = {"answer": "five", "n_steps": 1}


def graded(agent: AgentSuite, *stored: Outcome) -> list[Graded]:
    return list(grade_outcomes(agent, stored))


def verdict(agent: AgentSuite, *stored: Outcome) -> tuple[Verdict, str]:
    (one,) = graded(agent, *stored)
    return one.decision.verdict, one.decision.reason


def skipped(**changes: Any) -> Outcome:
    return outcome(status=Status.SKIPPED, **changes)


def test_a_right_answer_passes_and_its_scores_are_kept() -> None:
    (one,) = graded(suite(), outcome(position=4))
    assert (one.example_id, one.position, one.decision.verdict) == ("example-1", 4, Verdict.PASS)
    assert one.scores == ((0, Score("answer_correct", 1.0)),)


def test_a_wrong_answer_fails() -> None:
    assert verdict(suite(), outcome(outputs=WRONG)) == (Verdict.FAIL, "answer_correct 0")


def test_a_skip_keeps_its_reason_and_is_not_scored() -> None:
    (one,) = graded(suite(), skipped(skip_reason="no Postgres reachable at db:5432"))
    assert (one.decision.verdict, one.decision.reason) == (Verdict.SKIP, "no Postgres reachable at db:5432")
    assert one.scores == ()


@pytest.mark.parametrize("kind", FailureKind)
def test_no_evaluator_runs_on_an_outcome_without_outputs(kind: FailureKind) -> None:
    """H49: the target raises, no evaluator runs."""
    ran: list[object] = []

    def watches(outputs: Any, expected: Any) -> list[Score]:
        ran.append(outputs)
        return [Score("answer_correct", 1.0)]

    watching = replace(grader(), grade=watches)
    failed = outcome(status=Status.FAILED, failure=Failure(kind, "boom"))
    assert verdict(suite(evaluators=(watching,)), failed) == (Verdict.ERROR, f"{kind.value}: boom")
    assert ran == []


def test_an_error_on_a_marked_example_is_an_error() -> None:
    """H37, H54: an error beside a marker, and a set-up that fails, is not excused."""
    marked = suite(example(known_defects=[marker()]))
    assert verdict(marked, outcome(status=Status.FAILED))[0] is Verdict.ERROR


def test_an_evaluator_that_raises_is_an_error_whatever_the_others_score() -> None:
    both = suite(evaluators=(raising(ValueError("boom")), grader("other", "answer")))
    assert verdict(both, outcome()) == (Verdict.ERROR, "evaluator raises raised ValueError: boom")


def test_markers_of_the_dataset_of_now_excuse() -> None:
    marked = suite(example(known_defects=[marker(reason="known")]))
    assert verdict(marked, outcome(outputs=WRONG)) == (Verdict.XFAIL, "known")
    assert verdict(marked, outcome())[0] is Verdict.XPASS


def test_only_when_is_asked_of_the_stored_outputs() -> None:
    marked = suite(example(known_defects=[marker(only_when={"n_steps": 1})]))
    assert verdict(marked, outcome(outputs=WRONG))[0] is Verdict.XFAIL
    assert verdict(marked, outcome(outputs=WRONG | {"n_steps": 2}))[0] is Verdict.FAIL


def test_trials_of_one_example_are_one_verdict() -> None:
    trials = [outcome(), outcome(trial=1, outputs=WRONG)]
    (one,) = graded(suite(), *trials)
    assert (one.decision.verdict, one.decision.n_trials, one.decision.n_passed) == (Verdict.FAIL, 2, 1)
    assert [trial for trial, _ in one.scores] == [0, 1]


def test_one_trial_that_was_skipped_does_not_hide_another_that_failed() -> None:
    """The prerequisite went away between the trials, or before a resume: that is an error, never a skip."""
    for stored in ([outcome(outputs=WRONG), skipped(trial=1)], [skipped(), outcome(trial=1, outputs=WRONG)]):
        told = verdict(suite(), *stored)
        assert told == (Verdict.ERROR, "skipped although other trials of it ran: no model")


def test_a_skip_without_words_is_a_skip() -> None:
    assert verdict(suite(), skipped(skip_reason="")) == (Verdict.SKIP, "")


def test_an_outcome_of_other_inputs_is_an_error() -> None:
    changed = suite(example(inputs={"question": "another"}))
    assert verdict(changed, outcome()) == (
        Verdict.ERROR,
        "the example's inputs have changed since this outcome: run it again",
    )


def test_expectations_that_changed_are_graded_as_they_are_now() -> None:
    assert verdict(suite(example(expected={"answer": "five"})), outcome(outputs=WRONG))[0] is Verdict.PASS


def test_an_outcome_of_an_example_that_is_gone_is_an_error() -> None:
    told = verdict(suite(example("another")), outcome())
    assert told == (Verdict.ERROR, "the example is no longer in the dataset")


def test_a_broken_static_rule_refuses_every_example_even_those_that_were_skipped() -> None:
    offending = suite(example(), example("ungraded", expected={"answer": "four", "typo": 1}))
    both = graded(offending, outcome(), skipped(example_id="ungraded"))
    assert [one.decision.verdict for one in both] == [Verdict.ERROR, Verdict.ERROR]
    for one in both:
        assert one.decision.reason.startswith("refused by the rule every_key_is_graded: sampler/ungraded/typo: ")


def test_an_agent_that_is_not_installed_is_skipped() -> None:
    absent = suite(target=None, evaluators=(), not_installed="package x is not installed")
    assert verdict(absent, skipped(skip_reason="package x is not installed"))[0] is Verdict.SKIP


def test_an_agent_that_is_not_installed_any_more_has_its_outcomes_in_error() -> None:
    absent = suite(target=None, evaluators=(), not_installed="package x is not installed")
    assert verdict(absent, outcome())[0] is Verdict.ERROR


def test_each_example_keeps_its_own_verdict() -> None:
    """H22, H47: one error is one error."""
    three = suite(example("a"), example("b"), example("c"))
    stored = [outcome("a"), outcome("b", status=Status.FAILED), outcome("c", outputs=WRONG)]
    assert [one.decision.verdict for one in graded(three, *stored)] == [Verdict.PASS, Verdict.ERROR, Verdict.FAIL]


@pytest.fixture
def database(results: Database) -> Database:
    start_run(results)
    return results


def test_scoring_twice_gives_the_same_scores(database: Database) -> None:
    """H23: run twice, identical scores."""
    agent = suite()
    outcomes.add(database, [outcomes.encoded(outcome())])
    readings = []
    for _ in range(2):
        assert score_agent(agent, database, RUN) == 1
        readings.append(scores.read(database, RUN, AGENT))
    assert readings[0] == readings[1]
    assert readings[0][0].decision.verdict is Verdict.PASS


def test_scores_say_which_evaluators_and_which_dataset_made_them(database: Database) -> None:
    agent = suite()
    outcomes.add(database, [outcomes.encoded(outcome())])
    score_agent(agent, database, RUN)
    (row,) = runs.agents(database, RUN)
    assert (row.evaluators_digest, row.scored_digest) == (agent.evaluators_digest, agent.dataset.digest)
