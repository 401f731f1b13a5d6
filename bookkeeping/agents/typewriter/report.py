"""Records as proposals: values in their JSON form."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from bookkeeping.agents.typewriter.outputs import Proposal, TypewriterOutputs, UnreadValue
from bookkeeping.agents.typewriter.paper import Typed
from bookkeeping.documents import Cells, Record, Value


def outputs(documents: Sequence[tuple[Typed, Record, tuple[str, ...]]]) -> TypewriterOutputs:
    """What is handed back for these documents, each with its record and the paths of what it has invented."""
    proposals = [_proposal(typed, record, invented) for typed, record, invented in documents]
    return {
        "proposals": proposals,
        "n_proposals": len(proposals),
        "doc_types": [proposal["doc_type"] for proposal in proposals],
        "n_fabricated": sum(len(proposal["fabricated"]) for proposal in proposals),
        "unread": [item for number, (_, record, _) in enumerate(documents) for item in _unread(number, record)],
    }


def _proposal(typed: Typed, record: Record, invented: tuple[str, ...]) -> Proposal:
    return {
        "doc_type": typed.document_type.code,
        "schema_type": typed.document_type.payload.name,
        "fields": _cells(record.fields),
        "rows": [_cells(row) for row in record.rows],
        "first_line": typed.part.first_line,
        "last_line": typed.part.last_line,
        "fabricated": list(invented),
    }


def _cells(cells: Cells) -> dict[str, str]:
    return {name: _json(value) for name, value in cells.items()}


def _json(value: Value) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat() if isinstance(value, date) else value


def _unread(number: int, record: Record) -> list[UnreadValue]:
    return [
        {"proposal": number, "path": item.path, "reason": item.unread.reason, "written": item.unread.written}
        for item in record.unread
    ]
