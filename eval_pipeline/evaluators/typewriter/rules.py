"""The static rules of the Typewriter alone: what is expected can be proposed, and no type is forgotten."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from eval_pipeline.dataset import Example
from eval_pipeline.rules.rule import Offence, static_rule
from eval_pipeline.suite import AgentSuite

if TYPE_CHECKING:
    from bookkeeping.documents import Field

OF_A_DOCUMENT = frozenset({"doc_type", "schema_type", "fields", "row_count", "rows"})
NO_SIGN_COLUMNS = frozenset({"debit", "credit", "indicator"})


@static_rule("expectations_fit_the_catalogue", "what no proposal can have can only be met by a wrong one")
def expectations_fit_the_catalogue(suite: AgentSuite) -> Iterable[Offence]:
    """Types, schemas and fields are those of the catalogue, values are of their kind, rows are as many as may be."""
    for example in suite.dataset.examples:
        for prefix, document in _documents(example):
            for key, told in _misfits(document):
                yield _offence("expectations_fit_the_catalogue", suite, example, prefix + key, told)


@static_rule("documents_are_complete", "a document of which only the type is expected grades no reading at all")
def documents_are_complete(suite: AgentSuite) -> Iterable[Offence]:
    """A document is expected with its type, schema and fields; the number of documents is that of proposals.

    Of somebody else's papers, in a pack, the type may not be known.
    """
    needed = OF_A_DOCUMENT - {"rows", "row_count"} if suite.pack is None else {"fields"}
    for example in suite.dataset.examples:
        documents = list(_documents(example))
        if example.expected.get("n_proposals") != len(documents):
            told = f"n_proposals does not say {len(documents)}, the number of the expected documents"
            yield _offence("documents_are_complete", suite, example, "n_proposals", told)
        for prefix, document in documents:
            for key in sorted(needed - document.keys()):
                yield _offence("documents_are_complete", suite, example, prefix + key, "is not expected")
        if documents and "field_accuracy_floor" not in example.expected:
            yield _offence("documents_are_complete", suite, example, "field_accuracy_floor", "is not expected")
        if "max_fabricated" not in example.expected:
            yield _offence("documents_are_complete", suite, example, "max_fabricated", "is not expected")


@static_rule("every_type_has_an_example", "a type that no example has is a type whose reading nobody grades")
def every_type_has_an_example(suite: AgentSuite) -> Iterable[Offence]:
    """Every document type of the catalogue is expected somewhere. A pack need not have all of them."""
    from bookkeeping.documents import catalogue

    if suite.pack is not None:
        return
    seen = {document.get("doc_type") for example in suite.dataset.examples for _, document in _documents(example)}
    for code in catalogue().types:
        if code not in seen:
            yield Offence("every_type_has_an_example", suite.name, f"no example has the type {code}")


def _documents(example: Example) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The expected documents of an example, each with the path that its keys stand under."""
    expected = example.expected
    several = expected.get("documents")
    if isinstance(several, list):
        yield from ((f"documents.{number}.", item) for number, item in enumerate(several) if isinstance(item, dict))
    elif OF_A_DOCUMENT & expected.keys():
        yield "", {key: value for key, value in expected.items() if key in OF_A_DOCUMENT}


def _misfits(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    from bookkeeping.documents import catalogue

    if "doc_type" not in document:  # told by documents_are_complete
        return
    document_type = catalogue().types.get(document["doc_type"])
    if document_type is None:
        yield "doc_type", f"{document.get('doc_type')!r} is no type of the catalogue"
        return
    payload = document_type.payload
    if document.get("schema_type", payload.name) != payload.name:
        yield "schema_type", f"the schema of {document_type.code} is {payload.name}"
    for key in document.keys() - OF_A_DOCUMENT:
        yield key, "is no key of a document"
    fields = document.get("fields", {})
    if not fields:
        yield "fields", "no field is expected"
    yield from _cell_misfits(fields, {field.name: field for field in payload.fields}, "fields")
    hidden = NO_SIGN_COLUMNS if payload.name == "bank_statement" else frozenset()
    columns = {field.name: field for field in payload.row_fields if field.name not in hidden}
    rows = document.get("rows", [])
    if len(rows) > document.get("row_count", len(rows)):
        yield "rows", f"{len(rows)} rows are expected and row_count says {document['row_count']}"
    if not columns and document.get("row_count"):
        yield "row_count", f"{payload.name} has no rows"
    for number, row in enumerate(rows):
        yield from _cell_misfits(row, columns, f"rows.{number}")


def _cell_misfits(cells: Mapping[str, Any], known: "Mapping[str, Field]", prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in cells.items():
        if name not in known:
            yield f"{prefix}.{name}", "is not in the schema of that type"
        elif value is not None and not _is_of_kind(value, known[name]):
            yield f"{prefix}.{name}", f"{value!r} is no {known[name].kind} as expectations write it"


def _is_of_kind(value: Any, field: "Field") -> bool:
    from bookkeeping.documents import NUMERIC, Kind
    from bookkeeping.documents.currencies import codes

    if not isinstance(value, str) or not value.strip():
        return False
    if field.kind is Kind.DATE:
        return _parses(date.fromisoformat, value) and len(value) == 10
    if field.kind in NUMERIC:
        return _parses(Decimal, value) and Decimal(value).is_finite()
    return value in codes() if field.kind is Kind.CURRENCY else True


def _parses(parser: Any, value: str) -> bool:
    try:
        parser(value)
    except (ValueError, InvalidOperation):
        return False
    return True


def _offence(rule: str, suite: AgentSuite, example: Example, key: str, told: str) -> Offence:
    return Offence(rule, suite.name, told, suite.dataset.sources[example.id], example.id, f"expected.{key}")
