"""The rule tables in ``data/``: reasons, classes of types, words of personal data, words of scopes, refusals."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from bookkeeping.agents.clerk.inputs import Decision
from bookkeeping.documents import catalogue, folded

WORST_FIRST: tuple[Decision, ...] = ("reject", "hold", "accept")
SCOPES = (
    "in_scope",
    "legal_advice",
    "investment_advice",
    "other_peoples_data",
    "hidden_instructions",
    "elsewhere",
)


class DocumentClass(StrEnum):
    """What governance makes of a type."""

    PAYABLE = "payable"
    EXPENSE = "expense"
    PERSONAL = "personal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Reason:
    """A row of the table of governance."""

    code: str
    decision: Decision
    holds_when: str


def data(name: str) -> Any:
    """The content of a data file of this package."""
    return json.loads(files(__package__).joinpath("data", f"{name}.json").read_text("utf-8"))


@cache
def reasons() -> Mapping[str, Reason]:
    """The reasons by code, in the order of the table."""
    return {row["code"]: Reason(**row) for row in data("reasons")}


def decision_of(codes: Iterable[str]) -> Decision:
    """The worst decision of these reasons; without any it is accept. Raises KeyError for a code of no row."""
    decisions = {reasons()[code].decision for code in codes}
    return next((item for item in WORST_FIRST if item in decisions), "accept")


@cache
def class_of(doc_type: str) -> DocumentClass | None:
    """The class of a type; None for a code that the catalogue does not have."""
    found = catalogue().types.get(doc_type)
    if found is None:
        return None
    table = data("types")
    if doc_type in table["payable"]:
        return DocumentClass.PAYABLE
    if doc_type in table["expense"]:
        return DocumentClass.EXPENSE
    return DocumentClass.PERSONAL if found.family in table["personal_families"] else DocumentClass.OTHER


def phrase_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """One pattern for phrases in folded text.

    A phrase is words that stand as words; ``*`` after a word stands for any ending, ``...`` for up to three words.
    """
    return re.compile("|".join(f"(?<!\\w){_one_phrase(phrase)}(?!\\w)" for phrase in phrases))


def _one_phrase(phrase: str) -> str:
    parts: list[str] = []
    gap = ""
    for word in folded(phrase).split(" "):
        if word == "...":
            gap = r"\W+(?:\w+\W+){0,5}?"
            continue
        written = re.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else "")
        parts.append((gap or r"\W+") + written if parts else written)
        gap = ""
    return "".join(parts)
