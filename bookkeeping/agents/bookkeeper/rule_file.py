"""The posting rules as they are written in ``posting_rules/*.json``: one pydantic model a noun.

``general.json`` has what holds for all rules, the other files the rules of one family of document types each. What a
key means is said here; what a rule means is said in its ``note``.
"""

from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bookkeeping.agents.bookkeeper.naming import series_of
from bookkeeping.documents.inputs import DecimalString
from bookkeeping.ledger.entry import Side

Direction = Literal["issued", "received"]
Kind = Literal["invoice", "credit", "payment", "statement", "other"]
Modifier = Literal["blocked_tax", "deferral", "prepayment", "cash_rounding", "multi_currency"]
AccountBy = Literal[
    "revenue",
    "expense",
    "stock",
    "output_tax",
    "money",
    "money_to",
    "money_from",
    "liability",
    "receivable",
    "fx",
    "origin",
    "voucher",
]
InputKind = Literal["amount", "percent", "quantity", "unit price", "exchange rate", "count"]


class RuleFileError(ValueError):
    """A posting rule that cannot be used; the message names the file or the rule, the variant and the line."""


class _Written(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WrittenLine(_Written):
    """One line of a variant.

    account: the one used where the record states no key; account_by: the map that a key of the record goes through.
    key: the name of that key in ``Record.categories`` where it is not ``account_by`` itself.
    in_book_currency: clears an amount booked before, which the record states in book currency: never converted.
    clears: the input whose amount was booked before; in a foreign document the line keeps the book amount of then,
        which the record states as ``<input>_book``.
    absorbs: takes the difference that such lines leave.
    per_rate: on a document at several rates the line is repeated for each. Lines whose account goes by the category of
        a revenue, a cost or an origin are anyway.
    """

    side: Side
    account: str
    amount: str
    account_by: AccountBy | None = None
    key: str | None = None
    in_book_currency: bool = False
    clears: str | None = None
    absorbs: bool = False
    per_rate: bool = False


class WrittenRequirement(_Written):
    """A condition that must hold before a variant is posted; ``otherwise`` is the rejection code."""

    that: str
    otherwise: str = Field(alias="else")


class WrittenVariant(_Written):
    """One way to book a document type.

    derived: named intermediate values, in order of evaluation.
    stated: totals that the document may print, by its name for them, with the formula that they must equal; only those
        that do not follow from net, vat and gross being what their names say.
    booked_as_stated: derived values that the document may state; its figure is booked.
    booked_within_tolerance: the same while it differs by no more than one minor unit for each line of the document. A
        derived vat is always one of these.
    """

    id: str
    when: str
    inputs: tuple[str, ...]
    signed_inputs: tuple[str, ...] = ()
    derived: dict[str, str] = Field(default_factory=dict)
    requires: tuple[WrittenRequirement, ...] = ()
    stated: dict[str, str] = Field(default_factory=dict)
    booked_as_stated: tuple[str, ...] = ()
    booked_within_tolerance: tuple[str, ...] = ()
    lines: tuple[WrittenLine, ...]
    note: str


class WrittenField(_Written):
    """A deciding field: stated by the record, or computed as the first value whose condition holds.

    unless_stated: the value for a record that says nothing about it, where silence has a meaning.
    """

    values: tuple[str, ...]
    source: Literal["record", "computed"]
    meaning: str | None = None
    conditions: dict[str, str] = Field(default_factory=dict)
    unless_stated: str | None = None


class Verdict(_Written):
    """Where a choice leads: exactly one of a variant, a rejection, nothing to post, or another rule to choose in."""

    variant: str | None = None
    reject: str | None = None
    nothing_to_post: str | None = None
    use_rule: str | None = None


class Row(Verdict):
    """A verdict for some combinations of deciding fields; a field that ``where`` does not name may have any value."""

    where: dict[str, tuple[str, ...]]


class WrittenDecision(_Written):
    fields: dict[str, WrittenField]
    select: tuple[Row, ...]
    otherwise: Verdict | None = None


class NegativeIs(_Written):
    """What a document with a negative total is: another type, with facts that its own type has settled."""

    doc_type: str
    facts: dict[str, str]


class WrittenRule(_Written):
    """All ways to book one document type.

    direction, kind: part of what makes two documents the same one.
    reversed_next_period: its entries are reversed on the first day of the next period.
    negative_is: the rule for a document of this type whose total is below zero; without it that is refused.
    modifiers: those that may apply, each when the record calls for it.
    """

    doc_type: str
    direction: Direction
    kind: Kind
    modifiers: tuple[Modifier, ...]
    reversed_next_period: bool = False
    negative_is: NegativeIs | None = None
    decided_by: WrittenDecision | None = None
    variants: tuple[WrittenVariant, ...]


class InputMeaning(_Written):
    kind: InputKind
    meaning: str


class WrittenResults(_Written):
    reject: dict[str, str]
    nothing_to_post: dict[str, str]


class WrittenModifiers(_Written):
    use: str
    order: tuple[Modifier, ...]
    blocked_tax: dict[str, str]
    deferral: dict[str, str]
    prepayment: dict[str, str]
    cash_rounding: dict[str, str]
    multi_currency: dict[str, str]


class Practice(_Written):
    """The unit to which a currency is rounded where its minor unit is not used, and who says so."""

    unit: DecimalString
    source: str


class General(_Written):
    """What holds for all rules.

    parameters: a default for each scale (decimals) of a book currency.
    rounded_in_practice: currencies whose documents are rounded to more than the minor unit of ISO 4217.
    """

    notes: dict[str, str | dict[str, str]]
    modifiers: WrittenModifiers
    account_by: dict[str, str]
    maps: dict[str, dict[str, str]]
    parameters: dict[str, dict[str, DecimalString]]
    rounded_in_practice: dict[str, Practice]
    results: WrittenResults
    inputs: dict[str, InputMeaning]

    def meaning_of(self, name: str) -> InputMeaning | None:
        """What an input is; ``net_c`` is to ``net_a`` as its series says."""
        series = series_of(name)
        return self.inputs.get(name) or (self.inputs.get(series.first_name) if series else None)

    def parameter(self, name: str, scale: int) -> Decimal:
        """The default of a parameter for a book currency of ``scale`` decimals."""
        by_scale = self.parameters[name]
        return by_scale.get(str(scale), by_scale["2"])


_RULES = TypeAdapter(tuple[WrittenRule, ...])


def read_general(folder: Path) -> General:
    """``general.json`` of ``folder``. Raises RuleFileError."""
    path = folder / "general.json"
    try:
        return General.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise RuleFileError(f"{path.name}: {error}") from error


def read_rules(folder: Path) -> tuple[WrittenRule, ...]:
    """The rules of all other files of ``folder``, by file name. Raises RuleFileError with the file and the place."""
    rules: list[WrittenRule] = []
    for path in sorted(folder.glob("*.json")):
        if path.name == "general.json":
            continue
        try:
            rules += _RULES.validate_json(path.read_bytes())
        except ValidationError as error:
            raise RuleFileError(f"{path.name}: {error}") from error
    return tuple(rules)
