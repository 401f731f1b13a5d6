"""What kind of document a submission is: as declared, or as the Typewriter's graph reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from bookkeeping.agents.clerk.inputs import Fields, Submission
from bookkeeping.agents.clerk.tables import DocumentClass, class_of
from bookkeeping.models import Model

GROSS = ("total", "gross", "payable", "net_pay")
"""The fields of the Typewriter's schemas that are the amount of the document; the first that is there counts."""


@dataclass(frozen=True, slots=True)
class Identified:
    """The type (None where it cannot be said), its class, who said so, and what the document states."""

    doc_type: str | None
    document_class: DocumentClass | None
    by: Literal["declared", "typewriter"] | None
    fields: Fields


NOT_IDENTIFIED = Identified(None, None, None, Fields())


def must_be_read(submission: Submission) -> bool:
    """Whether the type can only be had by reading the document, which needs a model."""
    return submission.request == "file" and submission.doc_type is None and submission.principal is not None


def as_declared(submission: Submission) -> Identified:
    """What the submitter declares; a type that the catalogue does not have is none."""
    if submission.doc_type is None:
        return NOT_IDENTIFIED
    document_class = class_of(submission.doc_type)
    if document_class is None:
        return NOT_IDENTIFIED
    return Identified(submission.doc_type, document_class, "declared", submission.fields)


def as_read(model: Model, document: str, company: str) -> Identified:
    """What the Typewriter's graph reads. Not exactly one document: not identified. Raises a ModelError."""
    from bookkeeping.agents.typewriter.graph import TypewriterContext, build_graph

    outputs = build_graph().invoke({"document": document, "company": company}, context=TypewriterContext(model))
    proposals = outputs["proposals"]
    if len(proposals) != 1:
        return NOT_IDENTIFIED
    doc_type = proposals[0]["doc_type"]
    return Identified(doc_type, class_of(doc_type), "typewriter", _fields(proposals[0]["fields"]))


def _fields(read: Mapping[str, str]) -> Fields:
    gross = next((read[name] for name in GROSS if name in read), None)
    found: dict[str, Any] = {
        "supplier": read.get("issuer"),
        "number": read.get("number"),
        "date": date.fromisoformat(read["date"]) if "date" in read else None,
        "gross": Decimal(gross) if gross is not None else None,
        "currency": read.get("currency"),
        "bank_account": read.get("bank_account"),
    }
    return Fields(**found)
