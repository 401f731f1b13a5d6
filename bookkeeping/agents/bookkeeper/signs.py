"""The kind of document gives the sign (general.signs): paper that prints a credit as negative is not reversed twice."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bookkeeping.agents.bookkeeper.naming import series_of
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.rules import Rule, Rulebook

Figures = dict[str, Fraction]


@dataclass(frozen=True, slots=True)
class Signed:
    """Figures with the signs that the rule of ``doc_type`` expects."""

    doc_type: str
    amounts: Figures
    stated: Figures
    facts: dict[str, str]


def with_signs_of_kind(
    rules: Rulebook, rule: Rule, amounts: Figures, stated: Figures, facts: Mapping[str, str]
) -> Signed | Refused:
    """Makes a credit printed negative positive, and a negative invoice the credit that it is.

    Refuses (wrong_sign) totals whose signs contradict each other. Which sign a single input may have is for the
    variant to say, later.
    """
    as_read = Signed(rule.doc_type, amounts, stated, dict(facts))
    is_negative = _is_negative(rules, rule, amounts, stated)
    if not is_negative:
        return as_read
    totals = _totals(rules, amounts, stated)
    if any(value > 0 for value in totals):
        return Refused("wrong_sign", f"The totals of this {rule.doc_type} contradict each other in sign.")
    money = {name: -value if _is_money(rules, name) else value for name, value in amounts.items()}
    turned = Signed(rule.doc_type, money, {name: -value for name, value in stated.items()}, dict(facts))
    if rule.negative_is is None:
        return turned
    return Signed(rule.negative_is.doc_type, turned.amounts, turned.stated, turned.facts | rule.negative_is.facts)


def _is_negative(rules: Rulebook, rule: Rule, amounts: Figures, stated: Figures) -> bool:
    """Whether the figures are those of a document printed the other way round."""
    if rule.kind == "credit":
        totals = _totals(rules, amounts, stated) or [sum(_lines(rules, amounts), Fraction(0))]
        return any(value < 0 for value in totals)
    return rule.negative_is is not None and _deciding_total(amounts, stated) < 0


def _deciding_total(amounts: Figures, stated: Figures) -> Fraction:
    """The gross; at gross zero the net (general.signs)."""
    parts = [name for name in amounts if name == "net" or name.startswith("net_")]
    net = stated.get("net", sum((amounts[name] for name in parts), Fraction(0)))
    for gross in (stated.get("gross"), amounts.get("gross_doc"), amounts.get("gross_fc")):
        if gross is not None:
            return gross or net
    tax = stated.get("vat")
    if tax is None:
        tax = sum((amounts[name] * amounts.get(_rate_of(name), Fraction(0)) / 100 for name in parts), Fraction(0))
    return (net + tax) or net


def _rate_of(net: str) -> str:
    return net.replace("net", "rate", 1)


def _totals(rules: Rulebook, amounts: Figures, stated: Figures) -> list[Fraction]:
    """Amounts of the whole document; single lines and rates may have either sign."""
    alone = [value for name, value in amounts.items() if series_of(name) is None and _is_money(rules, name)]
    return alone + [value for name, value in stated.items() if series_of(name) is None]


def _lines(rules: Rulebook, amounts: Figures) -> list[Fraction]:
    return [value for name, value in amounts.items() if series_of(name) is not None and _is_money(rules, name)]


def _is_money(rules: Rulebook, name: str) -> bool:
    meaning = rules.general.meaning_of(name)
    return meaning is not None and meaning.kind == "amount"
