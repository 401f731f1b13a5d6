"""Proposals beside expected documents: which belongs to which, and what of it is right."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

from eval_pipeline.evaluator import exact
from eval_pipeline.evaluators.typewriter.assignment import assign

Expected = Mapping[str, Any]
Pair = tuple[Expected, Mapping[str, Any]]

_NOTHING: Mapping[str, Any] = {}


def match_proposals(wanted: Sequence[Expected], proposals: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """Each expected document with its proposal, an empty one where none is left: together the best of all matchings."""
    weights = [[_likeness(document, proposal) for proposal in proposals] for document in wanted]
    places = assign(weights)
    return [
        (document, _NOTHING if place is None else proposals[place])
        for document, place in zip(wanted, places, strict=True)
    ]


def _likeness(document: Expected, proposal: Mapping[str, Any]) -> float:
    """How much of what is expected of a document a proposal has; the type counts as much as all of its fields."""
    verdicts = field_verdicts(document, proposal)
    ratio = sum(told is None for told in verdicts) / len(verdicts) if verdicts else 0.0
    keys = [key for key in ("doc_type", "schema_type", "row_count") if key in document]
    return ratio + sum(exact(stated(proposal, key), document[key]) for key in keys) / 3


def field_verdicts(document: Expected, proposal: Mapping[str, Any]) -> list[str | None]:
    """For each field and cell that is expected of a document: None when it is right, else what is there instead."""
    found = proposal.get("fields")
    actual = found if isinstance(found, dict) else {}
    return [
        *_cell_verdicts(document.get("fields", _NOTHING), actual, "", is_there=bool(proposal)),
        *_row_verdicts(document.get("rows", ()), proposal.get("rows")),
    ]


def _cell_verdicts(
    wanted: Expected, actual: Mapping[str, Any], prefix: str, *, is_there: bool
) -> Iterator[str | None]:  # fmt: skip
    for name, value in wanted.items():
        is_right = is_there and same_value(name, actual.get(name), value)
        yield None if is_right else f"{prefix}{name} is {actual.get(name)!r}, not {value!r}"


def _row_verdicts(wanted: Sequence[Expected], actual: Any) -> Iterator[str | None]:
    rows = [row for row in actual if isinstance(row, dict)] if isinstance(actual, list) else []
    weights = [
        [sum(told is None for told in _cell_verdicts(row, there, "", is_there=True)) for there in rows]
        for row in wanted
    ]
    for number, (row, place) in enumerate(zip(wanted, assign(weights), strict=True)):
        there = rows[place] if place is not None else _NOTHING
        yield from _cell_verdicts(row, there, f"rows.{number}.", is_there=place is not None)


def stated(proposal: Mapping[str, Any], key: str) -> Any:
    """A property of a proposal; ``row_count`` is the number of its rows."""
    if key != "row_count":
        return proposal.get(key)
    rows = proposal.get("rows")
    return len(rows) if isinstance(rows, list) else None


def same_value(name: str, actual: object, wanted: object) -> bool:
    """Whether a proposed value is the expected one: numbers by value, texts without regard to case and spacing."""
    from bookkeeping.documents import NUMERIC, Kind, compact, folded

    if not isinstance(actual, str) or not isinstance(wanted, str):
        return actual is None and wanted is None
    kind = _kinds().get(name)
    if kind in NUMERIC:
        number = _decimal(actual)
        return number is not None and number == _decimal(wanted)
    if kind is Kind.IDENTIFIER:
        return compact(actual) == compact(wanted)
    return folded(actual) == folded(wanted) if kind is Kind.TEXT else actual == wanted


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


@cache
def _kinds() -> Mapping[str, Any]:
    from bookkeeping.documents import catalogue

    return catalogue().kinds
