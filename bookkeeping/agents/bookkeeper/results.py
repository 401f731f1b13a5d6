"""How the work on a record can end without a posting. Ends are values: a refusal is an answer, not an exception."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refused:
    """The record is not booked. ``reason`` is a code of general.results.reject, ``explanation`` one sentence."""

    reason: str
    explanation: str


@dataclass(frozen=True, slots=True)
class NothingToPost:
    """The record is fine and gives rise to no entry. ``reason`` is a code of general.results.nothing_to_post."""

    reason: str
    explanation: str


Stop = Refused | NothingToPost
"""Either end; whoever gets one hands it on."""
