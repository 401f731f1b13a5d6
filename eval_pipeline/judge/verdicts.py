"""What a judge says: one verdict a criterion with its quotation, and what counts as no answer.

It fails closed. A verdict that is missing, a criterion that holds without a passage that shows it, or a quotation that
the reply does not have, and the whole judgement is no answer: 0, counted apart from a 0 that was judged.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bookkeeping.models import object_schema

SHOWN = 120
"""Characters of a quotation that a comment shows."""


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """Whether one criterion holds, and the passage of the reply that decides it."""

    criterion: str
    holds: bool
    quotation: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer (``verdicts``, one a criterion), or why there is none (``reason``)."""

    verdicts: tuple[CriterionVerdict, ...] = ()
    reason: str | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the judge answered."""
        return self.reason is None

    @property
    def value(self) -> float:
        """1.0 when all criteria hold, else 0.0; 0.0 without an answer."""
        return float(self.is_answered and bool(self.verdicts) and all(item.holds for item in self.verdicts))

    @property
    def told(self) -> str:
        """The verdict in words, with the passages, so that it can be checked by eye."""
        if self.reason is not None:
            return f"the judge did not answer: {self.reason}"
        return "; ".join(
            f"{'holds' if item.holds else 'does not hold'}: {item.criterion} [{_short(item.quotation)}]"
            for item in sorted(self.verdicts, key=lambda item: item.holds)
        )


def unanswered(reason: str) -> Judgement:
    """No answer, with the reason."""
    return Judgement(reason=reason)


def schema(rubric: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an answer: one object a criterion, by number."""
    one = object_schema(quotation={"type": "string", "maxLength": 400}, holds={"type": "boolean"})
    return object_schema(**{name(number): one for number in range(1, len(rubric) + 1)})


def name(number: int) -> str:
    """How the answer names a criterion."""
    return f"criterion_{number}"


def read(answer: Mapping[str, Any], rubric: Sequence[str], reply: str) -> Judgement:
    """The judgement that an answer is; one that is partial, or quotes what is not there, is no answer."""
    wanted = {name(number): criterion for number, criterion in enumerate(rubric, 1)}
    if answer.keys() != wanted.keys():
        differing = ", ".join(sorted(answer.keys() ^ wanted.keys()))
        return unanswered(f"its verdict is not of these criteria: {differing}")
    text, verdicts = normal(reply), []
    for key, criterion in wanted.items():
        holds, quotation = answer[key]["holds"], str(answer[key]["quotation"])
        if normal(quotation) not in text:
            return unanswered(f"its quotation is not in the reply: {_short(quotation)!r}")
        if holds and not normal(quotation):
            return unanswered(f"it says without a quotation that this holds: {criterion}")
        verdicts.append(CriterionVerdict(criterion, holds, quotation))
    return Judgement(tuple(verdicts))


def normal(text: str) -> str:
    """A text without regard to case, kinds of spaces, line breaks, and the marks around a quotation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.translate(_MARKS).split()).strip("\"' ….")


_MARKS = {ord(mark): '"' for mark in "“”„«»"} | {ord(mark): "'" for mark in "‘’‚"}


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= SHOWN else f"{plain[:SHOWN]}…"
