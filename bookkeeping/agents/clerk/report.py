"""Results as outputs: values in their JSON form."""

from typing import Literal

from bookkeeping.agents.clerk.governance import Ruling
from bookkeeping.agents.clerk.identify import Identified
from bookkeeping.agents.clerk.keeping import Kept
from bookkeeping.agents.clerk.outputs import ClerkOutputs


def of_intake(identified: Identified, ruling: Ruling, kept: Kept) -> ClerkOutputs:
    """The outputs of a submission."""
    return {
        **_nothing(),
        "way": "intake",
        "decision": ruling.decision,
        "reasons": list(ruling.reasons),
        "approvers": list(ruling.approvers),
        "queued": kept.queued,
        "filed": kept.filed,
        "filed_paths": list(kept.paths),
        "doc_type": identified.doc_type,
        "identified_by": identified.by,
        "extraction": _fields(identified),
    }


def of_chat(
    scope: str | None, decided_by: Literal["rules", "model"] | None, reply: str | None, cites: list[str]
) -> ClerkOutputs:
    """The outputs of a message."""
    return {
        **_nothing(),
        "way": "chat",
        "scope": scope,
        "scope_decided_by": decided_by,
        "reply": reply,
        "cites": cites,
    }


def _nothing() -> ClerkOutputs:
    return {
        "way": "intake",
        "decision": None,
        "reasons": [],
        "approvers": [],
        "queued": None,
        "filed": None,
        "filed_paths": [],
        "doc_type": None,
        "identified_by": None,
        "extraction": {},
        "scope": None,
        "scope_decided_by": None,
        "reply": None,
        "cites": [],
    }


def _fields(identified: Identified) -> dict[str, str]:
    """The fields that are there, amounts as decimal strings."""
    fields = identified.fields
    told = {
        "supplier": fields.supplier,
        "number": fields.number,
        "date": None if fields.date is None else fields.date.isoformat(),
        "gross": None if fields.gross is None else f"{fields.gross:f}",
        "currency": fields.currency,
        "bank_account": fields.bank_account,
    }
    return {name: value for name, value in told.items() if value is not None}
