"""First step: what the record says in the terms of the rules: its rule, its currency, its figures with their signs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from types import MappingProxyType

from bookkeeping.agents.bookkeeper.record import BookState, Record
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.rules import Rule, Rulebook
from bookkeeping.agents.bookkeeper.signs import with_signs_of_kind
from bookkeeping.ledger import UnknownCurrency, currency_scale

INVERSE = "_inverse"


@dataclass(frozen=True, slots=True)
class BookTerms:
    """What the rules need to know of a book: whose, in which currency (of ``scale`` decimals), with which settings."""

    company: str
    currency: str
    scale: int
    parameters: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Understood:
    """A record in the terms of the rules.

    rule: the one that its type leads to (a negative invoice leads to the rule of the credit note).
    currency, scale: of the document. amounts, stated: exact, signs already those of the rule.
    facts: what the record states and what its type implies, not yet what follows from its figures.
    unit_in_practice: what its currency is rounded to where that is more than the minor unit.
    posting_date: the day it is booked on; known once the periods were looked at.
    """

    rule: Rule
    record: Record
    terms: BookTerms
    currency: str
    scale: int
    amounts: Mapping[str, Fraction]
    stated: Mapping[str, Fraction]
    facts: Mapping[str, str]
    unit_in_practice: Fraction | None = None
    posting_date: date = field(default=date.max)

    @property
    def is_foreign(self) -> bool:
        return self.currency != self.terms.currency


def book_terms(rules: Rulebook, state: BookState) -> BookTerms | Refused:
    """The terms of the book that ``state`` describes; a currency that does not exist is refused."""
    try:
        scale = currency_scale(state.currency)
    except UnknownCurrency:
        return Refused("unknown_currency", f"The book's currency {state.currency!r} is not an ISO 4217 code.")
    parameters = {name: Fraction(rules.general.parameter(name, scale)) for name in rules.general.parameters}
    parameters |= {name: Fraction(value) for name, value in state.parameters.items()}
    return BookTerms(state.company, state.currency, scale, MappingProxyType(parameters))


def understand(rules: Rulebook, terms: BookTerms, record: Record) -> Understood | Refused:
    """Finds the rule and reads the figures. Refuses types that post nothing, unknown currencies, clashing signs."""
    rule = rules.rules.get(record.doc_type)
    if rule is None:
        return Refused("non_posting_type", f"A document of type {record.doc_type} gives rise to no entries.")
    currency = record.currency if record.currency is not None else terms.currency
    try:
        scale = currency_scale(currency)
    except UnknownCurrency:
        return Refused("unknown_currency", f"{currency!r} is not an ISO 4217 currency code.")
    amounts = _exact(record.amounts)
    inverted = _with_inverse_rates(amounts)
    if isinstance(inverted, Refused):
        return inverted
    signed = with_signs_of_kind(rules, rule, inverted, _exact(record.stated), record.facts)
    if isinstance(signed, Refused):
        return signed
    return Understood(
        rule=rules.rules[signed.doc_type],
        record=record,
        terms=terms,
        currency=currency,
        scale=scale,
        amounts=MappingProxyType(signed.amounts),
        stated=MappingProxyType(signed.stated),
        facts=MappingProxyType(signed.facts),
        unit_in_practice=_unit_in_practice(rules, currency),
    )


def _unit_in_practice(rules: Rulebook, currency: str) -> Fraction | None:
    practice = rules.general.rounded_in_practice.get(currency)
    return Fraction(practice.unit) if practice else None


def _exact(values: Mapping[str, object]) -> dict[str, Fraction]:
    return {name: Fraction(str(value)) for name, value in values.items() if value is not None}


def _with_inverse_rates(amounts: dict[str, Fraction]) -> dict[str, Fraction] | Refused:
    """A rate quoted as foreign units for one of the book is applied by exact division (general.multi_currency)."""
    rates: dict[str, Fraction] = {}
    for name, value in amounts.items():
        if name.startswith("fx") and name.endswith(INVERSE):
            if value <= 0:
                return Refused("out_of_tolerance", f"The exchange rate {name} is not above zero.")
            rates[name.removesuffix(INVERSE)] = 1 / value
    return {name: value for name, value in amounts.items() if not name.endswith(INVERSE)} | rates
