"""The posting rules with their formulas parsed: what the engine works with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bookkeeping.agents.bookkeeper.formulas import Condition, Expression
from bookkeeping.agents.bookkeeper.rule_file import (
    AccountBy,
    Direction,
    General,
    Kind,
    Modifier,
    NegativeIs,
    Row,
    Verdict,
)
from bookkeeping.ledger.entry import Side


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A line of a variant with its formula parsed; the other fields as in WrittenLine.

    mark: the part of the document that it belongs to, where its formula reads other parts too.
    """

    side: Side
    account: str
    amount: Expression
    account_by: AccountBy | None = None
    key: str | None = None
    in_book_currency: bool = False
    clears: str | None = None
    absorbs: bool = False
    per_rate: bool = False
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition on figures, as text and parsed; ``names`` are those it reads."""

    condition: Condition
    names: frozenset[str]
    text: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to book a document type.

    stated: printed totals by name, and the formula that each must equal. booked_as_stated: derived values that give way
    to the figure that the document prints. booked_within_tolerance: the same, while it is off by little.
    """

    id: str
    inputs: tuple[str, ...]
    signed_inputs: frozenset[str]
    derived: tuple[tuple[str, Expression], ...]
    requires: tuple[Requirement, ...]
    stated: Mapping[str, Expression]
    booked_as_stated: frozenset[str]
    booked_within_tolerance: frozenset[str]
    lines: tuple[RuleLine, ...]

    @property
    def derived_names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.derived)


@dataclass(frozen=True, slots=True)
class Field:
    """A deciding field; ``conditions`` is empty where the record states the value, or is silent: ``unless_stated``."""

    name: str
    values: tuple[str, ...]
    conditions: tuple[tuple[str, Condition], ...]
    unless_stated: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    fields: tuple[Field, ...]
    select: tuple[Row, ...]
    otherwise: Verdict | None

    def rows_for(self, values: Mapping[str, str]) -> Iterator[Row]:
        """The rows that fit ``values``, one value for each field."""
        for row in self.select:
            if all(values[name] in wanted for name, wanted in row.where.items()):
                yield row


@dataclass(frozen=True, slots=True)
class Rule:
    doc_type: str
    direction: Direction
    kind: Kind
    modifiers: frozenset[Modifier]
    reversed_next_period: bool
    negative_is: NegativeIs | None
    decision: Decision | None
    variants: Mapping[str, Variant]


@dataclass(frozen=True, slots=True)
class Rulebook:
    """All rules by document type, and what holds for all of them."""

    general: General
    rules: Mapping[str, Rule]
