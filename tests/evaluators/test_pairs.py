"""Every registered evaluator can say yes and can say no, with each of its keys."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from eval_pipeline.evaluator import Evaluator, evaluator, grade
from eval_pipeline.verdict import Score
from tests.evaluators.pairs import PAIRS, Pair
from tests.evaluators.registered import EXACT


def unproven(evaluators: Mapping[tuple[str, str], Evaluator], pairs: Mapping[tuple[str, str], Pair]) -> Iterator[str]:
    """The evaluators without a pair, and the keys that a pair does not show at 1.0 and below it."""
    for name, item in evaluators.items():
        pair = pairs.get(name)
        if pair is None:
            yield f"{'/'.join(name)} has no pair"
            continue
        right = scores(item, pair.right, pair.expected)
        for key in item.scores:
            wrong = scores(item, pair.wrong[key], pair.expected) if key in pair.wrong else {key: 1.0}
            if right.get(key) != 1.0:
                yield f"{'/'.join(name)}: {key} is {right.get(key)} on what is right"
            if wrong[key] >= 1.0:
                yield f"{'/'.join(name)}: {key} is {wrong[key]} on what is wrong"


def scores(item: Evaluator, outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, float]:
    """What an evaluator says of these outputs, by key; fails when it has a problem."""
    graded = grade([item], outputs, expected)
    assert graded.problems == ()
    return {score.key: score.value for score in graded.scores}


def test_every_registered_evaluator_says_yes_and_no_with_each_of_its_keys() -> None:
    assert list(unproven(EXACT, PAIRS)) == []


def test_no_pair_is_left_of_an_evaluator_that_is_gone() -> None:
    agents = {agent for agent, _ in EXACT}
    assert {name for name in PAIRS if name[0] in agents} <= EXACT.keys()


@evaluator(reads={"status"}, scores={"status_correct"})
def status(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterable[Score]:
    """Always content."""
    yield Score("status_correct", 1.0)


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        (PAIRS, "bookkeeper/status: status_correct is 1.0 on what is wrong"),
        ({}, "bookkeeper/status has no pair"),
        (
            {("bookkeeper", "status"): Pair({"status": "posted"}, {"status": "posted"}, {})},
            "bookkeeper/status: status_correct is 1.0 on what is wrong",
        ),
    ],
    ids=["always one", "without a pair", "without a wrong answer"],
)
def test_a_planted_evaluator_that_cannot_say_no_is_found(pairs: Mapping[tuple[str, str], Pair], told: str) -> None:
    assert list(unproven({("bookkeeper", "status"): status}, pairs)) == [told]
