"""Whatever an agent returns, an evaluator gives a score for each of its keys, or a problem that names it."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.dataset import Example
from eval_pipeline.evaluator import Evaluator, grade
from eval_pipeline.json_parts import ABSENT, leaves, with_leaf
from eval_pipeline.suite import AgentSuite
from tests.evaluators.registered import EXACT, SUITES

HOSTILE = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        10**400,
        0.1,
        math.nan,
        math.inf,
        "",
        "NaN",
        "1e999",
        "١٢٣٫٤٥",
        "１１１０",
        "тест",
        "قيمة",
        "\u202e119.00",
        "\x00",
        "\ud800",
        "x" * 100_000,
        [],
        [None],
        [[]],
        [{}],
        {},
        {"": None},
        {"account": 1110, "side": None, "amount": math.nan},
    ]
)
SCALARS = HOSTILE | st.integers() | st.floats() | st.text() | st.decimals().map(str)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
NAMES = sorted(EXACT)


def example_for(name: tuple[str, str]) -> tuple[AgentSuite, Example]:
    """The first example of the agent that the evaluator applies to."""
    suite = SUITES[name[0]]
    return suite, next(item for item in suite.dataset.examples if EXACT[name].applies(item.expected))


def require_a_score_or_a_named_problem(item: Evaluator, outputs: Mapping[str, Any], example: Example) -> None:
    """The boundary's promise: each key once with a share, or one sentence with the evaluator's name."""
    graded = grade([item], outputs, example.expected)
    if graded.problems:
        (problem,) = graded.problems
        assert problem.startswith(f"evaluator {item.name} ")
        assert graded.scores == ()
        return
    assert {score.key for score in graded.scores} <= item.scores.keys()
    assert graded.scores
    for score in graded.scores:
        assert 0.0 <= score.value <= 1.0
        assert math.isfinite(score.value)


@pytest.mark.parametrize("name", NAMES, ids="/".join)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_outputs_of_any_form(name: tuple[str, str], data: st.DataObject) -> None:
    suite, example = example_for(name)
    assert suite.target is not None
    keys = st.sampled_from(sorted(suite.target.output_names))
    outputs = data.draw(st.dictionaries(keys, ANYTHING, max_size=4))
    require_a_score_or_a_named_problem(EXACT[name], outputs, example)


@pytest.mark.parametrize("name", NAMES, ids="/".join)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_right_outputs_with_one_hostile_leaf(name: tuple[str, str], data: st.DataObject) -> None:
    _, example = example_for(name)
    outputs = {key: value for key, value in example.expected.items() if key in EXACT[name].reads}
    path = data.draw(st.sampled_from([path for path, _ in leaves(outputs)]))
    spoilt = with_leaf(outputs, path, data.draw(HOSTILE | st.just(ABSENT)))
    require_a_score_or_a_named_problem(EXACT[name], spoilt, example)


@pytest.mark.parametrize("name", NAMES, ids="/".join)
def test_no_outputs_at_all_are_below_one_on_some_key_or_a_problem(name: tuple[str, str]) -> None:
    _, example = example_for(name)
    require_a_score_or_a_named_problem(EXACT[name], {}, example)
