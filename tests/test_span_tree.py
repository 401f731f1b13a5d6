"""Calls are below the nodes that made them, and no node is below another one."""

import pytest

from eval_pipeline.outcome import Span
from eval_pipeline.span_tree import parents


def node(start: float, seconds: float) -> Span:
    return Span("node", "node", start, seconds)


def call(start: float, seconds: float) -> Span:
    return Span("model", "model", start, seconds)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        pytest.param([node(0.0, 1.0), node(1.0, 0.0005), node(1.0005, 0.001)], (None,) * 3, id="short nodes in a row"),
        pytest.param([node(0.0, 1.0), node(0.1, 0.3)], (None, None), id="a node beside a longer one"),
        pytest.param([node(0.0, 0.1), node(0.1, 0.3), call(0.15, 0.2)], (None, None, 1), id="in the second"),
        pytest.param([node(0.0, 0.1), call(0.099, 0.3), node(0.1, 0.3)], (None, 2, None), id="a little too early"),
        pytest.param([node(0.0, 0.1), call(0.1, 0.0), node(0.2, 0.3)], (None, 0, None), id="refused at once"),
        pytest.param([node(0.0, 1.0), node(0.0, 0.3), call(0.1, 0.1)], (None, None, 1), id="in the shorter of two"),
        pytest.param([node(0.0, 0.1), call(0.5, 0.1)], (None, None), id="outside of any node"),
        pytest.param([node(0.0, 1.0), Span("print", "stdout", 0.1, 0.0)], (None, None), id="printed by the attempt"),
    ],
)
def test_each_step_is_below_what_it_is_within(spans: list[Span], expected: tuple[int | None, ...]) -> None:
    assert parents(spans) == expected
