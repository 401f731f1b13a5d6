"""What could not be read, and why: a value, never an exception and never a guess."""

from dataclasses import dataclass
from typing import Literal

Reason = Literal[
    "no_number", "malformed_number", "no_date", "impossible_date", "ambiguous_date", "no_currency", "ambiguous_currency"
]


@dataclass(frozen=True, slots=True)
class Unread:
    """``written`` is what stands in the document."""

    reason: Reason
    written: str
