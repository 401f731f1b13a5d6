"""What an evaluator returns is not trusted, and what it is handed is its own copy."""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.errors import ConfigError
from eval_pipeline.evaluator import ScoreKey, applying, evaluator, exact, grade, load_evaluators
from eval_pipeline.registry import AgentEntry
from eval_pipeline.verdict import Score
from tests.build import grader, raising, returning
from tests.test_values import json_values

EXPECTED = {"answer": "four"}


def test_the_scores_stand_in_the_order_of_the_evaluators() -> None:
    both = [grader("b_correct", "b"), grader("a_correct", "a")]
    graded = grade(both, {"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert graded.scores == (Score("b_correct", 0.0), Score("a_correct", 1.0))
    assert graded.problems == ()


def test_an_evaluator_applies_only_when_all_that_it_reads_is_expected() -> None:
    both = evaluator(reads={"a", "b"}, scores={"k"})(lambda outputs, expected: [Score("k", 1.0)])
    assert applying([both], {"a": 1}) == ()
    assert applying([both], {"a": 1, "b": 1, "c": 1}) == (both,)


@given(json_values)
def test_whether_it_applies_does_not_depend_on_what_came_out(outputs: object) -> None:
    graded = grade([grader()], {"answer": outputs}, EXPECTED)
    assert [score.key for score in graded.scores] == ["answer_correct"]


def test_an_evaluator_is_handed_the_keys_that_it_declares_and_no_others() -> None:
    seen: list[Any] = []

    @evaluator(reads={"a"}, may_read={"b", "absent"}, scores={"k"})
    def looks(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
        seen.append(dict(expected))
        yield Score("k", 1.0)

    grade([looks], {}, {"a": 1, "b": 2, "c": 3})
    assert seen == [{"a": 1, "b": 2}]


def test_what_one_evaluator_changes_the_next_one_does_not_see() -> None:
    """H50: an evaluator mutates the reference and the outputs."""

    @evaluator(reads={"answer"}, scores={"vandal"})
    def vandal(outputs: dict[str, Any], expected: dict[str, Any]) -> Iterator[Score]:
        outputs["lines"][0]["amount"] = expected["answer"][0]["amount"] = "0.00"
        outputs.clear()
        yield Score("vandal", 1.0)

    outputs, expected = {"lines": [{"amount": "1.00"}]}, {"answer": [{"amount": "1.00"}]}

    @evaluator(reads={"answer"}, scores={"next"})
    def the_next(given_outputs: Any, given: Any) -> Iterator[Score]:
        untouched = given_outputs == {"lines": [{"amount": "1.00"}]} and given == {"answer": [{"amount": "1.00"}]}
        yield Score("next", float(untouched))

    assert [score.value for score in grade([vandal, the_next], outputs, expected).scores] == [1.0, 1.0]
    assert outputs == {"lines": [{"amount": "1.00"}]}
    assert expected == {"answer": [{"amount": "1.00"}]}


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, -0.001, 1.0001, 2, -1, 10**400, True, False, None, "1"]
)
def test_a_value_that_is_no_finite_number_in_0_to_1_is_a_problem(value: Any) -> None:
    graded = grade([returning(Score("answer_correct", value))], {}, EXPECTED)
    assert graded.scores == ()
    assert graded.problems == (
        f"evaluator says scored answer_correct with {value!r}, which is not a finite number in [0, 1]",
    )


@pytest.mark.parametrize("value", [Fraction(10**30 - 1, 10**30), Decimal("0.99999999999999999999")])
def test_a_value_just_below_1_does_not_become_1_by_being_made_a_float(value: Any) -> None:
    assert float(value) == 1.0
    assert grade([returning(Score("answer_correct", value))], {}, EXPECTED).problems


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.5, 1.0])
def test_a_number_in_0_to_1_is_kept_as_a_float(value: float) -> None:
    (score,) = grade([returning(Score("answer_correct", value))], {}, EXPECTED).scores
    assert (type(score.value), score.value) == (float, value)


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ([], "scored nothing although answer is expected"),
        ([Score("other", 1.0)], "scored 'other', which it does not declare"),
        ([Score(["list"], 1.0)], "scored ['list'], which it does not declare"),  # type: ignore[arg-type]
        ([Score("answer_correct", 1.0)] * 2, "scored 'answer_correct', which is scored already"),
        ([1.0], "returned float, not Score"),
        ([("answer_correct", 1.0)], "returned tuple, not Score"),
        ([None], "returned NoneType, not Score"),
        ([Score("answer_correct", 1.0, 5)], "scored answer_correct with a comment that is int, not text"),  # type: ignore[arg-type]
        ([Score("answer_correct", 1.0, unanswered=True)], "scored answer_correct with 1.0 although its judge was not"),
    ],
)
def test_what_an_evaluator_may_not_return_is_a_named_problem(returned: list[Any], told: str) -> None:
    graded = grade([returning(*returned)], {}, EXPECTED)
    assert graded.scores == ()
    (problem,) = graded.problems
    assert problem.startswith(f"evaluator says {told}")


def test_one_bad_score_takes_the_good_ones_of_its_evaluator_with_it_and_no_others() -> None:
    half = returning(Score("a", 1.0), Score("b", math.nan), scores=("a", "b"))
    graded = grade([half, grader()], {"answer": "four"}, EXPECTED)
    assert graded.scores == (Score("answer_correct", 1.0),)
    assert len(graded.problems) == 1


def test_a_key_that_another_evaluator_scored_is_a_problem() -> None:
    graded = grade([grader(name="first"), grader(name="second")], {"answer": "four"}, EXPECTED)
    assert graded.problems == ("evaluator second scored 'answer_correct', which is scored already",)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("boom\nagain"), "raised ValueError: boom again"),
        (SystemExit(0), "raised SystemExit: 0"),
        (RecursionError(), "raised RecursionError"),
        (Unspeakable(), "raised Unspeakable: (its message cannot be shown)"),
    ],
)
def test_an_evaluator_that_raises_is_a_problem_and_the_next_one_still_scores(error: BaseException, told: str) -> None:
    other = grader("other", "answer")
    graded = grade([raising(error), other], {"answer": "four"}, EXPECTED)
    assert graded.problems == (f"evaluator raises {told}",)
    assert graded.scores == (Score("other", 1.0),)


def test_ctrl_c_in_an_evaluator_stops_the_scoring() -> None:
    with pytest.raises(KeyboardInterrupt):
        grade([raising(KeyboardInterrupt())], {}, EXPECTED)


def test_an_evaluator_that_returns_nothing_iterable_is_a_problem() -> None:
    none = evaluator(reads={"answer"}, scores={"k"})(lambda outputs, expected: None)  # type: ignore[arg-type, return-value]
    (problem,) = grade([none], {}, EXPECTED).problems
    assert "TypeError" in problem


def test_a_generator_without_an_end_is_a_problem_and_ends() -> None:
    @evaluator(reads={"answer"}, scores={"k"})
    def endless(outputs: Any, expected: Any) -> Iterator[Score]:
        while True:
            yield Score("k", 1.0)

    assert grade([endless], {}, EXPECTED).problems == ("evaluator endless scored 'k', which is scored already",)


hostile = json_values | st.builds(object) | st.binary() | st.just(math.nan) | st.sets(st.integers())


@given(st.dictionaries(st.text(max_size=4) | st.just("answer"), hostile, max_size=4))
def test_no_outputs_whatever_make_the_grading_raise(outputs: dict[str, Any]) -> None:
    graded = grade([grader()], outputs, EXPECTED)
    assert len(graded.scores) + len(graded.problems) == 1
    assert all(score.value == float(outputs.get("answer") == "four") for score in graded.scores)


@given(st.lists(hostile | st.builds(Score, hostile, hostile, hostile, hostile), max_size=3))
def test_nothing_that_an_evaluator_returns_makes_the_grading_raise(returned: list[Any]) -> None:
    graded = grade([returning(*returned)], {}, EXPECTED)
    assert len(graded.scores) + len(graded.problems) >= 1
    assert all(type(score.value) is float and 0 <= score.value <= 1 for score in graded.scores)


def test_an_evaluator_that_reads_or_scores_nothing_cannot_be_declared() -> None:
    for reads, scores in (((), ("k",)), (("a",), ())):
        with pytest.raises(ConfigError, match="must read at least one"):
            evaluator(reads=reads, scores=scores)(lambda outputs, expected: [])


def test_a_coroutine_function_cannot_be_an_evaluator() -> None:
    async def waits(outputs: Any, expected: Any) -> list[Score]:
        return []

    with pytest.raises(ConfigError, match="evaluator waits: an evaluator is a plain function"):
        evaluator(reads={"a"}, scores={"k"})(waits)  # type: ignore[arg-type]


def test_exact_compares_value_and_type() -> None:
    assert exact("0", "0") == 1.0
    assert exact(0, "0") == exact(0, False) == exact(0, 0.0) == 0.0


def test_score_keys_keep_their_properties() -> None:
    declared = grader(ScoreKey("k", excusable=False, judged=True))
    assert declared.scores["k"] == ScoreKey("k", excusable=False, judged=True)
    assert grader("k").scores["k"] == ScoreKey("k", excusable=True, judged=False)


def test_a_module_without_an_evaluator_is_told() -> None:
    with pytest.raises(ConfigError, match="tests defines no evaluator"):
        load_evaluators(AgentEntry("tests", "tests", "tests", "tests"))
