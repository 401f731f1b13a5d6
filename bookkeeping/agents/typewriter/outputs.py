"""What the Typewriter hands back: plain JSON. Amounts are decimal strings, dates YYYY-MM-DD, currencies ISO codes."""

from typing import TypedDict


class Proposal(TypedDict):
    """One record. What the document does not have is in neither ``fields`` nor a row.

    first_line, last_line: where the document stands in the text, from 1.
    fabricated: paths (``total``, ``rows.2.amount``) of the values that the text does not have.
    """

    doc_type: str
    schema_type: str
    fields: dict[str, str]
    rows: list[dict[str, str]]
    first_line: int
    last_line: int
    fabricated: list[str]


class UnreadValue(TypedDict):
    """A value that was copied from the document and cannot be read; it is not proposed."""

    proposal: int
    path: str
    reason: str
    written: str


class TypewriterOutputs(TypedDict):
    """The result of one text.

    proposals, n_proposals: in the order of the text.
    doc_types: their types, in that order.
    n_fabricated: how many proposed values the text does not have, counted by the graph.
    unread: what could not be read, with the place of its proposal.
    """

    proposals: list[Proposal]
    n_proposals: int
    doc_types: list[str]
    n_fabricated: int
    unread: list[UnreadValue]
