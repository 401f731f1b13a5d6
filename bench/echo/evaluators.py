"""Three exact comparisons, one for each key, as every peer of the benchmark has them."""

from collections.abc import Iterable, Mapping
from typing import Any

from eval_pipeline.evaluator import evaluator, exact
from eval_pipeline.verdict import Score


@evaluator(reads={"a"}, scores={"a_correct"})
def exact_a(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterable[Score]:
    """1.0 when ``a`` is what is expected."""
    yield Score("a_correct", exact(outputs.get("a"), expected["a"]))


@evaluator(reads={"b"}, scores={"b_correct"})
def exact_b(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterable[Score]:
    """1.0 when ``b`` is what is expected."""
    yield Score("b_correct", exact(outputs.get("b"), expected["b"]))


@evaluator(reads={"c"}, scores={"c_correct"})
def exact_c(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterable[Score]:
    """1.0 when ``c`` is what is expected."""
    yield Score("c_correct", exact(outputs.get("c"), expected["c"]))
