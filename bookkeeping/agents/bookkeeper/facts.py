"""The deciding fields that follow from what the record states elsewhere: its currency, its categories, its figures.

A field that the record states itself is taken as stated, with two exceptions: the currency may not contradict the
record's currency, and an asset below the capitalisation threshold is not one. A fact that the record's own figures
deny is refused. Everything else that decides must be stated, unless the rule says what silence means; it is never
guessed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from bookkeeping.agents.bookkeeper.formulas import round_half_away
from bookkeeping.agents.bookkeeper.naming import series_of
from bookkeeping.agents.bookkeeper.periods import ends_after_month_of
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.tolerance import tolerance
from bookkeeping.agents.bookkeeper.understanding import Understood

GOODS: Final = frozenset({"goods", "materials", "received_goods"})
ASSETS: Final = frozenset({"asset", "construction"})
ONE_RATE: Final = frozenset({"one_rate", "sales_tax", "stated_vat"})
"""Values of tax and basis that are true of a document at one rate only."""
DENIALS: Final[Mapping[str, str]] = {
    "deductible_share": "full",
    "period": "current",
    "advance": "none",
    "rounding": "no",
}
"""Facts by which a record says that there is nothing special, where its figures may show that there is."""


def with_facts(understood: Understood) -> Understood | Refused:
    """``understood`` with every deciding field of its rule that the record states or that follows from it."""
    understood = _below_threshold(understood)
    facts = dict(understood.facts)
    for field in understood.rule.decision.fields if understood.rule.decision else ():
        follows = _FOLLOWS.get(field.name)
        value = follows(understood) if follows and not field.conditions else None
        value = field.unless_stated if value is None else value
        if value in field.values:
            facts.setdefault(field.name, value)
        is_read_off = field.name == "currency" and understood.rule.kind != "statement"
        if is_read_off and value in field.values and facts["currency"] != value:
            explanation = f"The record calls its currency {facts['currency']}, and it is {understood.currency}."
            return Refused("unsupported_combination", explanation)
        if field.name in facts and facts[field.name] not in field.values and not field.conditions:
            explanation = f"{field.name} is {facts[field.name]!r}, not one of {', '.join(field.values)}."
            return Refused("unsupported_combination", explanation)
    contradiction = _rates_contradict(facts, understood) or _figures_contradict(facts, understood)
    return contradiction or replace(understood, facts=MappingProxyType(facts))


def _rates_contradict(facts: Mapping[str, str], understood: Understood) -> Refused | None:
    """The refusal of a record that says how many rates it has and states others."""
    rates = {value for name, value in understood.amounts.items() if name == "rate" or _is_of(name, "rate")}
    tax, basis = facts.get("tax"), facts.get("basis")
    if tax == "none" and any(rate > 0 for rate in rates):
        return Refused("unsupported_combination", "The record says that no tax is charged, and states a rate.")
    if len(rates) > 1 and (tax in ONE_RATE or basis in ONE_RATE):
        return Refused("unsupported_combination", f"The record says that it has one rate, and states {len(rates)}.")
    return None


def _figures_contradict(facts: Mapping[str, str], understood: Understood) -> Refused | None:
    """The refusal of a record that denies what its own figures and dates show."""
    for name, denial in DENIALS.items():
        if facts.get(name) == denial and _FOLLOWS[name](understood) not in (None, denial):
            explanation = f"The record says {name} {denial!r}, and its figures show {_FOLLOWS[name](understood)!r}."
            return Refused("unsupported_combination", explanation)
    return None


def _is_of(name: str, base: str) -> bool:
    series = series_of(name)
    return series is not None and series.base == base


def calculated_vat(understood: Understood) -> Fraction | None:
    """net x rate of a document at one rate, rounded in its own currency; None where they are not both there."""
    net, rate = understood.amounts.get("net"), understood.amounts.get("rate")
    if net is None or rate is None:
        return None
    return round_half_away(net * rate / 100, understood.scale)


def _below_threshold(understood: Understood) -> Understood:
    """An item of category asset below the capitalisation threshold is of category office (general.parameters)."""
    categories, net = understood.record.categories, understood.amounts.get("net")
    if net is None or (categories.get("expense") != "asset" and understood.facts.get("nature") != "asset"):
        return understood
    if categories.get("expense", "asset") != "asset":
        return understood
    value = net * understood.amounts.get("fx", Fraction(1)) if understood.is_foreign else net
    if value >= understood.terms.parameters["capitalisation_threshold"]:
        return understood
    record = understood.record.model_copy(update={"categories": {**categories, "expense": "office"}})
    facts = {**understood.facts, "nature": "cost"} if "nature" in understood.facts else understood.facts
    return replace(understood, record=record, facts=MappingProxyType(dict(facts)))


def _currency(understood: Understood) -> str:
    if understood.rule.kind == "statement":  # the currency of the open item, which the line itself does not have
        return "foreign" if "fc" in understood.amounts else "book"
    return "foreign" if understood.is_foreign else "book"


def _nature(understood: Understood) -> str | None:
    category = understood.record.categories.get("expense")
    if category is None:
        return None
    return "goods" if category in GOODS else "asset" if category in ASSETS else "cost"


def _deductible_share(understood: Understood) -> str | None:
    share = understood.amounts.get("deductible")
    if share is None:
        return None
    return "partial" if share < 100 else "full"


def _period(understood: Understood) -> str | None:
    end = understood.record.service_period_end
    if end is None:
        return None
    return "later" if ends_after_month_of(understood.posting_date, end) else "current"


def _advance(understood: Understood) -> str | None:
    return "deducted" if "adv_net" in understood.amounts else None


def _rounding(understood: Understood) -> str | None:
    amounts, stated = understood.amounts, understood.stated
    paid, total = amounts.get("paid"), amounts.get("total")
    if paid is not None and total is not None:
        return "no" if paid == total else "yes"
    payable = amounts.get("payable", stated.get("payable"))
    if payable is None:
        return None
    return "no" if payable == _gross(understood) else "yes"


def _gross(understood: Understood) -> Fraction | None:
    stated = understood.stated
    if "gross" in stated:
        return stated["gross"]
    net = understood.amounts.get("net", stated.get("net"))
    vat = stated.get("vat", calculated_vat(understood))
    return None if net is None else net + (vat or 0)


def _basis(understood: Understood) -> str:
    amounts, stated = understood.amounts, understood.stated
    if any((series := series_of(name)) and series.base == "rate" for name in amounts):
        return "several_rates"
    if "order_price" in amounts:
        return "receipt"
    vat, calculated = amounts.get("vat_doc", stated.get("vat")), calculated_vat(understood)
    if vat is None or calculated is None or vat == calculated:
        return "one_rate"
    if stated.get("gross", amounts["net"] + vat) != amounts["net"] + vat:
        return "one_rate"  # the totals contradict each other, which is found when they are compared
    within = abs(vat - calculated) <= tolerance(understood, vat, understood.scale)
    return "stated_vat" if within else "vat_out_of_tolerance"


_FOLLOWS: Final[Mapping[str, Callable[[Understood], str | None]]] = {
    "currency": _currency,
    "nature": _nature,
    "deductible_share": _deductible_share,
    "period": _period,
    "advance": _advance,
    "rounding": _rounding,
    "basis": _basis,
}
