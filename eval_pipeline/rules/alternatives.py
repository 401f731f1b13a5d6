"""What a leaf of ``expected`` could be instead: the changes by which liveness is shown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval_pipeline.json_parts import ABSENT, leaves
from eval_pipeline.values import same

_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_SAMPLE = 50
"""So many values of the outputs are tried in the place of a leaf."""


def sample_of(outputs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Some different scalars of the outputs: what an expectation of the kind "not this one" has to be changed to."""
    found: list[Any] = []
    for _, value in leaves(dict(outputs)):
        if not isinstance(value, dict | list) and not any(same(value, other) for other in found):
            found.append(value)
        if len(found) >= _SAMPLE:
            break
    return tuple(found)


def alternatives(value: Any) -> Iterator[Any]:
    """What a leaf is changed to: other values of its type, values out of range, and ABSENT. Never the value itself.

    The likeliest to move a score come first.
    """
    yield from (other for other in _of_its_type(value) if not same(other, value))
    yield ABSENT


def of_outputs(value: Any, sample: Sequence[Any]) -> Iterator[Any]:
    """What a leaf is changed to besides: values of the outputs of its type, for what is expected *not* to be there."""
    if value is None:
        yield from (other for other in sample if other is not None)
    elif value == [] and sample:
        yield list(sample)
    else:
        yield from (other for other in sample if type(other) is type(value) and not same(other, value))


def _of_its_type(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value - 1, -1, -(10**9), 10**9)
        case float():
            yield from (value + 0.25, value - 0.25, -1.0, 2.0, 1e9)
        case str():
            yield from _texts(value)
        case None:
            yield from ("no such value", 0, True, [], {})
        case list():
            yield from (["no such value"], [0], [{}])
        case dict():
            yield from ({"no such key": "no such value"}, {"no such key": 0})


def _texts(value: str) -> Iterator[str]:
    if _DAY.fullmatch(value):
        yield from ("2001-02-03", "0001-01-01", "9999-12-31")
    elif _DECIMAL.fullmatch(value):
        zeros = value.partition(".")[2]
        point = "." + "0" * len(zeros) if zeros else ""
        yield from (f"7351{point}", f"-7351{point}", f"0{point}", f"999999999999{point}")
    yield from (f"{value}~", "no such value", "")
