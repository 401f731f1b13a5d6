"""How the Typewriter is graded: its proposals beside what stands on the paper, field by field.

An example with one document has its expectations at the top; one with several has them in ``documents``. Proposals are
matched to documents by the best assignment, never by order. A document that no proposal is left for scores 0.0 on
everything that is expected of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bookkeeping.agents.typewriter.outputs import TypewriterOutputs
from eval_pipeline.evaluator import ScoreKey, evaluator, exact
from eval_pipeline.evaluators.typewriter.matching import Expected, field_verdicts, match_proposals, stated
from eval_pipeline.evaluators.typewriter.rules import (
    documents_are_complete,
    every_type_has_an_example,
    expectations_fit_the_catalogue,
)
from eval_pipeline.verdict import Score

RULES = (expectations_fit_the_catalogue, documents_are_complete, every_type_has_an_example)
OF_ONE_DOCUMENT = ("doc_type", "schema_type", "fields", "row_count", "rows")


@evaluator(reads={"doc_type"}, may_read=OF_ONE_DOCUMENT, scores={"doc_type_correct"})
def doc_type(outputs: TypewriterOutputs, expected: Expected) -> Iterable[Score]:
    """The type, exactly."""
    yield from _exact_scores(outputs, [expected], ("doc_type",))


@evaluator(reads={"schema_type"}, may_read=OF_ONE_DOCUMENT, scores={"schema_type_correct"})
def schema_type(outputs: TypewriterOutputs, expected: Expected) -> Iterable[Score]:
    """The schema of the payload, exactly."""
    yield from _exact_scores(outputs, [expected], ("schema_type",))


@evaluator(reads={"row_count"}, may_read=OF_ONE_DOCUMENT, scores={"row_count_correct"})
def row_count(outputs: TypewriterOutputs, expected: Expected) -> Iterable[Score]:
    """How many rows the table has, exactly."""
    yield from _exact_scores(outputs, [expected], ("row_count",))


@evaluator(
    reads={"fields", "field_accuracy_floor"},
    may_read=OF_ONE_DOCUMENT,
    scores={"field_accuracy", "field_accuracy_above_floor"},
)
def fields(outputs: TypewriterOutputs, expected: Expected) -> Iterable[Score]:
    """Right fields and cells over all that are expected, and whether that reaches the floor."""
    yield from _accuracy_scores(outputs, [expected], expected["field_accuracy_floor"])


@evaluator(reads={"documents"}, scores={"doc_type_correct", "schema_type_correct", "row_count_correct"})
def documents(outputs: TypewriterOutputs, expected: Expected) -> Iterable[Score]:
    """Types, schemas and numbers of rows of several documents: how many of those expected are right."""
    yield from _exact_scores(outputs, expected["documents"], ("doc_type", "schema_type", "row_count"))


@evaluator(
    reads={"documents", "field_accuracy_floor"}, scores={"field_accuracy", "field_accuracy_above_floor"}
)  # fmt: skip
def fields_of_documents(outputs: TypewriterOutputs, expected: Expected) -> Iterable[Score]:
    """Right fields and cells of several documents over all that are expected of them together."""
    yield from _accuracy_scores(outputs, expected["documents"], expected["field_accuracy_floor"])


@evaluator(reads={"n_proposals"}, scores={"n_proposals_correct"})
def n_proposals(outputs: TypewriterOutputs, expected: Expected) -> Iterable[Score]:
    """How many documents the text holds."""
    actual, wanted = outputs.get("n_proposals"), expected["n_proposals"]
    yield Score("n_proposals_correct", exact(actual, wanted), None if actual == wanted else f"{actual}, not {wanted}")


@evaluator(reads={"max_fabricated"}, scores=[ScoreKey("fabrication_within_bound", excusable=False)])
def fabrication(outputs: TypewriterOutputs, expected: Expected) -> Iterable[Score]:
    """No more values than allowed that the text does not have; the graph counts them."""
    actual, most = outputs.get("n_fabricated"), expected["max_fabricated"]
    is_within = isinstance(actual, int) and not isinstance(actual, bool) and actual <= most
    yield Score("fabrication_within_bound", float(is_within), None if is_within else f"{actual} values, at most {most}")


def _exact_scores(
    outputs: Mapping[str, Any], wanted: Sequence[Expected], keys: Sequence[str]
) -> Iterator[Score]:  # fmt: skip
    pairs = match_proposals(wanted, _proposals(outputs))
    for key in keys:
        asked = [(document, proposal) for document, proposal in pairs if key in document]
        if not asked:
            continue
        wrong = [
            f"{stated(proposal, key)!r}, not {document[key]!r}"
            for document, proposal in asked
            if not exact(stated(proposal, key), document[key])
        ]
        value = (len(asked) - len(wrong)) / len(asked)
        yield Score(f"{key}_correct", value, "; ".join(wrong) or None)


def _accuracy_scores(outputs: Mapping[str, Any], wanted: Sequence[Expected], floor: float) -> Iterator[Score]:
    verdicts = [item for pair in match_proposals(wanted, _proposals(outputs)) for item in field_verdicts(*pair)]
    wrong = [told for told in verdicts if told is not None]
    ratio = (len(verdicts) - len(wrong)) / len(verdicts) if verdicts else 0.0
    comment = "; ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
    yield Score("field_accuracy", ratio, comment or None)
    is_above = ratio >= floor
    yield Score("field_accuracy_above_floor", float(is_above), None if is_above else f"{ratio:.3f} is below {floor}")


def _proposals(outputs: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = outputs.get("proposals")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
