"""A score key that no spoilt outputs bring below 1.0 belongs to an evaluator that always says yes."""

from collections.abc import Iterator, Mapping
from typing import Any

from eval_pipeline.evaluator import ScoreKey, evaluator
from eval_pipeline.rules.can_fail import unfailing
from eval_pipeline.verdict import Score
from tests import build

RIGHT = {"answer": "four", "n_steps": 1}


@evaluator(reads={"answer"}, scores={"is_fine", "answer_given"})
def half(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
    yield Score("is_fine", 1.0)
    yield Score("answer_given", 1.0 if outputs.get("answer") else 0.0)


@evaluator(reads={"n_steps"}, scores={"few_steps"})
def few_steps(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
    yield Score("few_steps", 1.0 if outputs.get("n_steps", 0) <= expected["n_steps"] else 0.0)


def found(*evaluators: Any, expected: dict[str, Any] | None = None) -> list[str]:
    """The keys that are told to be unfailing on one passed example."""
    example = build.example(expected=expected or {"answer": "four"})
    suite = build.suite(example, evaluators=evaluators)
    return [str(item) for item in unfailing(suite, [(example, RIGHT)])]


def test_a_comparison_can_fail() -> None:
    assert found(build.grader()) == []


def test_a_score_that_is_always_one_is_told_with_its_evaluator() -> None:
    assert found(half) == ["sampler/is_fine: evaluator half scores 1.0 whatever the outputs are"]


def test_a_score_that_is_one_without_outputs_fails_on_changed_ones() -> None:
    assert found(few_steps, expected={"n_steps": 2}) == []


def test_a_judge_is_not_asked() -> None:
    @evaluator(reads={"answer"}, scores={ScoreKey("reply_meets_rubric", judged=True)})
    def judge(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
        raise AssertionError("the judge was asked")

    assert found(judge) == []
