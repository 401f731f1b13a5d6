"""How the Clerk is graded: exact comparisons, and the one judged score of the project, that of a reply in scope."""

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from bookkeeping.agents.clerk.outputs import ClerkOutputs
from eval_pipeline.evaluator import ScoreKey, evaluator, exact
from eval_pipeline.evaluators.clerk.rules import (
    every_ruling_has_an_example,
    expectations_fit_governance,
    expectations_fit_the_scope,
    inputs_can_be_read,
)
from eval_pipeline.judge import meets_rubric
from eval_pipeline.verdict import Score

RULES = (inputs_can_be_read, expectations_fit_governance, expectations_fit_the_scope, every_ruling_has_an_example)

Expected = Mapping[str, Any]

ABSENT = "no such output"
"""Stands for an output that is not there at all: that is not the null that may be expected."""


def _score(key: str, outputs: Mapping[str, Any], expected: Expected) -> Score:
    actual, wanted = outputs.get(key, ABSENT), expected[key]
    value = exact(actual, wanted)
    return Score(f"{key}_correct", value, None if value else f"{actual!r}, expected {wanted!r}")


@evaluator(reads={"decision"}, scores={"decision_correct"})
def decision(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """Accept, hold or reject."""
    yield _score("decision", outputs, expected)


@evaluator(reads={"reasons"}, scores={"reasons_correct"})
def reasons(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """Every code that holds, and no other."""
    yield _score("reasons", outputs, expected)


@evaluator(reads={"approvers"}, scores={"approvers_correct"})
def approvers(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """Who is to approve it."""
    yield _score("approvers", outputs, expected)


@evaluator(reads={"queued"}, scores={"queued_correct"})
def queued(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """The queue that has it, read back; null where none is to have it."""
    yield _score("queued", outputs, expected)


@evaluator(reads={"filed"}, scores={"filed_correct"})
def filed(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """The area that has its documents, read back; null where none is to have them."""
    yield _score("filed", outputs, expected)


@evaluator(reads={"doc_type"}, scores={"doc_type_correct"})
def doc_type(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """The type of the document."""
    yield _score("doc_type", outputs, expected)


@evaluator(reads={"scope"}, scores={"scope_correct"})
def scope(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """The scope of a message."""
    yield _score("scope", outputs, expected)


@evaluator(reads={"cites"}, scores={"cites_correct"})
def cites(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """The records that the reply uses, and no other."""
    yield _score("cites", outputs, expected)


@evaluator(reads={"rubric"}, scores=[ScoreKey("reply_meets_rubric", judged=True)])
def rubric(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """Whether the reply meets every criterion: a judge's word. One that is not there is 0.0, counted apart."""
    yield meets_rubric("reply_meets_rubric", outputs.get("reply"), expected["rubric"])


@evaluator(
    reads={"extraction", "extraction_accuracy_floor"},
    scores={"extraction_accuracy", "extraction_accuracy_above_floor"},
)
def extraction(outputs: ClerkOutputs, expected: Expected) -> Iterable[Score]:
    """Right fields over those expected, and whether that reaches the floor. Nothing read is nothing right."""
    found: Any = outputs.get("extraction")
    actual = found if isinstance(found, dict) else {}
    wanted: Mapping[str, Any] = expected["extraction"]
    wrong = [
        f"{name} is {actual.get(name)!r}, not {value!r}"
        for name, value in wanted.items()
        if not actual or not _same_field(name, actual.get(name), value)
    ]
    ratio = (len(wanted) - len(wrong)) / len(wanted) if wanted else 0.0
    yield Score("extraction_accuracy", ratio, "; ".join(wrong) or None)
    floor = expected["extraction_accuracy_floor"]
    is_above = ratio >= floor
    yield Score(
        "extraction_accuracy_above_floor", float(is_above), None if is_above else f"{ratio:.3f} is below {floor}"
    )


def _same_field(name: str, actual: object, wanted: object) -> bool:
    """Whether a field is the expected one: amounts by value, texts without regard to case and spacing."""
    from bookkeeping.documents import compact, folded

    if not isinstance(actual, str) or not isinstance(wanted, str):
        return actual is None and wanted is None
    if name == "gross":
        return _decimal(actual) is not None and _decimal(actual) == _decimal(wanted)
    if name in ("number", "bank_account"):
        return compact(actual) == compact(wanted)
    return folded(actual) == folded(wanted) if name == "supplier" else actual == wanted


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
