"""A leaf of ``expected`` is live when some change of it moves a score, and dead when none does."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from eval_pipeline.evaluator import Evaluator, ScoreKey, evaluator, exact
from eval_pipeline.rules.liveness import dead_expectations, live_leaves
from eval_pipeline.verdict import Score
from tests import build

OUTPUTS = {"total": 4, "lines": [{"account": "1110", "amount": "300.00"}], "text": "the hotel in Graz", "ok": True}


def says(value: float, *reads: str, may_read: tuple[str, ...] = ()) -> Evaluator:
    """An evaluator that declares that it reads these keys, and scores ``value`` whatever they are."""

    @evaluator(reads=reads, may_read=may_read, scores={"always"})
    def always(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
        yield Score("always", value)

    return always


@evaluator(reads={"lines"}, scores={"accounts_correct"})
def accounts(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
    wanted = [line["account"] for line in expected["lines"]]
    yield Score("accounts_correct", exact([line["account"] for line in outputs["lines"]], wanted))


@evaluator(reads={"max_total"}, scores={"total_within_bound"})
def bound(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
    yield Score("total_within_bound", 1.0 if outputs["total"] <= expected["max_total"] else 0.0)


@evaluator(reads={"min_total"}, scores={"total_reaches"})
def floor(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
    yield Score("total_reaches", 1.0 if outputs["total"] >= expected["min_total"] else 0.0)


@evaluator(reads={"not_accounts"}, scores={"avoids"})
def avoids(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
    there = {line["account"] for line in outputs["lines"]}
    yield Score("avoids", 0.0 if there & set(expected["not_accounts"]) else 1.0)


@evaluator(reads={"total"}, may_read={"tolerance"}, scores={"total_correct"})
def total(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
    off = abs(outputs["total"] - expected["total"])
    yield Score("total_correct", 1.0 if off <= expected.get("tolerance", 0) else 0.0)


def dead(evaluators: list[Evaluator], expected: dict[str, Any]) -> list[str]:
    """The dead leaves of an example that expects this, by path."""
    example = build.example(expected=expected)
    return [leaf.path for leaf in live_leaves(evaluators, example, OUTPUTS) if not leaf.is_live]


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        (build.grader("total_correct", "total"), {"total": 4}),
        (build.grader("ok", "ok"), {"ok": True}),
        (build.grader("reason", "reason"), {"reason": None}),
        (build.grader("lines", "lines"), {"lines": OUTPUTS["lines"]}),
        (bound, {"max_total": 100}),
        (floor, {"min_total": -5}),
        (avoids, {"not_accounts": ["9999"]}),
        (avoids, {"not_accounts": []}),
        (total, {"total": 4, "tolerance": 1}),
    ],
    ids=lambda value: "" if isinstance(value, Evaluator) else next(iter(value)),
)
def test_a_leaf_whose_change_moves_a_score_is_live(reader: Evaluator, expected: dict[str, Any]) -> None:
    assert dead([reader], expected) == []


def test_an_evaluator_that_always_returns_one_leaves_all_that_it_declares_dead() -> None:
    assert dead([says(1.0, "total", "text")], {"total": 4, "text": "the hotel in Graz"}) == ["total", "text"]


def test_a_part_of_a_list_that_nobody_reads_is_dead_by_its_path() -> None:
    assert dead([accounts], {"lines": OUTPUTS["lines"]}) == ["lines.0.amount"]


def test_the_absence_of_a_key_that_makes_its_evaluator_not_apply_shows_nothing() -> None:
    assert dead([says(1.0, "total")], {"total": 4}) == ["total"]


def test_a_key_that_may_be_read_and_is_not_is_dead() -> None:
    reader = says(1.0, "ok", may_read=("total",))
    assert dead([build.grader("ok", "ok"), reader], {"ok": True, "total": 4}) == ["total"]


def test_an_evaluator_that_raises_on_a_changed_expectation_does_not_make_it_live() -> None:
    @evaluator(reads={"total"}, scores={"is_number"})
    def picky(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
        if expected["total"] != 4:
            raise ValueError(expected["total"])
        yield Score("is_number", 1.0)

    assert dead([picky], {"total": 4}) == ["total"]


def test_what_a_judged_evaluator_reads_is_exempt_and_the_judge_is_not_asked() -> None:
    asked: list[object] = []

    @evaluator(reads={"rubric"}, scores={ScoreKey("reply_meets_rubric", judged=True)})
    def judge(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
        asked.append(expected)
        yield Score("reply_meets_rubric", 1.0)

    assert dead([judge], {"rubric": "is polite"}) == []
    assert asked == []


def offences(evaluators: tuple[Evaluator, ...], expected: dict[str, Any], **changes: Any) -> list[str]:
    """What the rule says of a suite with one example, as it would be printed."""
    example = build.example("sum", expected=expected, **changes)
    suite = build.suite(example, evaluators=evaluators)
    return [str(item) for item in dead_expectations(suite, [(example, OUTPUTS)])]


def test_a_dead_expectation_is_told_by_file_example_and_path() -> None:
    told = "sampler/sum/expected.lines.0.amount: no change of this expectation moves a score"
    assert offences((accounts,), {"lines": OUTPUTS["lines"]}) == [f"{told} (datasets/sampler/cases.json)"]


def test_a_leaf_that_is_dead_on_purpose_with_its_reason_is_no_offence() -> None:
    why = {"lines.0.amount": "amounts of this bank are graded in the statement examples"}
    assert offences((accounts,), {"lines": OUTPUTS["lines"]}, dead_on_purpose=why) == []
    assert offences((accounts,), {"lines": OUTPUTS["lines"]}, dead_on_purpose={"lines.0": "the same"}) == []


def test_a_leaf_that_is_said_to_be_dead_and_is_live_is_an_offence() -> None:
    (told,) = offences((bound,), {"max_total": 4}, dead_on_purpose={"max_total": "nobody reads it"})
    assert "sampler/sum/expected.max_total: is in dead_on_purpose and a change of it moves a score" in told


def test_a_path_that_is_not_expected_cannot_be_dead_on_purpose() -> None:
    with pytest.raises(ValueError, match=r"names lines\.1, which is not expected"):
        build.example(expected={"lines": [1]}, dead_on_purpose={"lines.1": "no such line"})
