"""The figures of a variant: its inputs, checked, and its derived values, with what the document states put in."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from bookkeeping.agents.bookkeeper.facts import calculated_vat
from bookkeeping.agents.bookkeeper.formulas import evaluate
from bookkeeping.agents.bookkeeper.naming import series_of
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.rule_file import General, InputKind
from bookkeeping.agents.bookkeeper.rules import Rule, Variant
from bookkeeping.agents.bookkeeper.tolerance import VAT_UNIT, lines_count, rounding_unit, tolerance
from bookkeeping.agents.bookkeeper.understanding import Understood

Figures = dict[str, Fraction]

_AT_MOST_100: Final = frozenset({"deductible", "disc_pct", "wht_rate"})
_MAY_BE_ZERO: Final = frozenset({"days"})
_VAT: Final = frozenset({"vat", "tax"})
MOST_DECIMALS: Final = 4
"""No currency of ISO 4217 has more."""


@dataclass(frozen=True, slots=True)
class Setting:
    """In which currency a variant is computed, and of how many decimals that currency is.

    converts: the figures are in document currency and every line is converted afterwards (modifier multi_currency).
    """

    scale: int
    converts: bool


def setting_of(general: General, rule: Rule, variant: Variant, understood: Understood) -> Setting:
    """A foreign document is computed in its own currency, unless the variant has exchange rates of its own.

    A voucher that states its own lines states them in book currency.
    """
    own_rates = any(_kind(general, name) == "exchange rate" for name in variant.inputs)
    converts = (
        understood.is_foreign and not own_rates and "multi_currency" in rule.modifiers and not understood.record.lines
    )
    return Setting(understood.scale if converts else understood.terms.scale, converts)


def left_over(variant: Variant, understood: Understood) -> Refused | None:
    """The refusal of a record with nets or rates that would stay out of the entry, beside those that are in it."""
    unused = [name for name in understood.amounts if _is_of_a_rate(name) and name not in variant.inputs]
    if not unused or not {"net", "rate"} & set(variant.inputs):
        return None
    return Refused("unsupported_combination", f"This treatment has no place for {', '.join(unused)}.")


def _is_of_a_rate(name: str) -> bool:
    series = series_of(name)
    return series is not None and series.base in ("net", "rate")


def inputs_of(general: General, variant: Variant, understood: Understood, setting: Setting) -> Figures | Refused:
    """Every input of ``variant`` with its value, and the parameters of the book; or what is missing or out of range."""
    implied = _implied(understood)
    mismatch = _vat_mismatch(understood) if "vat_fc" in variant.inputs else None
    if mismatch is not None:
        return mismatch
    figures = dict(understood.terms.parameters)
    for name in variant.inputs:
        value = understood.amounts.get(name, understood.stated.get(name, implied.get(name)))
        kind = _kind(general, name)
        if value is None:
            reason = "missing_rate" if kind == "exchange rate" else "missing_input"
            return Refused(reason, f"The record does not state {name} ({_meaning(general, name)}).")
        scale = _scale_of(name, understood, setting)
        refusal = _out_of_range(name, value, kind, scale, may_be_negative=name in variant.signed_inputs)
        if refusal is not None:
            return refusal
        figures[name] = value
    figures[VAT_UNIT] = rounding_unit(understood, figures.get("vat_doc", Fraction(0)), setting.scale)
    return figures


def derived_of(variant: Variant, inputs: Figures, understood: Understood, setting: Setting) -> Figures | Refused:
    """``inputs`` and the derived values of ``variant``, in its order; a stated VAT within the tolerance is booked."""
    figures = dict(inputs)
    contradiction = _titles_contradict(variant, understood)
    if contradiction is not None:
        return contradiction
    for name, expression in variant.derived:
        calculated = evaluate(expression, figures, setting.scale)
        figures[name] = calculated
        stated = _stated_for(name, understood.stated)
        if stated is None or name in variant.stated or name == "gross":
            continue
        if name in variant.booked_as_stated:
            figures[name] = stated
        elif _is_vat(name) or name in variant.booked_within_tolerance:
            if abs(stated - calculated) > tolerance(understood, stated, setting.scale):
                reason = "vat_mismatch" if _is_vat(name) else "out_of_tolerance"
                return Refused(
                    reason, f"The document states {name} {as_text(stated)}, calculated {as_text(calculated)}."
                )
            figures[name] = stated
    return figures


def _vat_mismatch(understood: Understood) -> Refused | None:
    """The VAT of a foreign document is an input, not derived: it too must be net x rate where both are there."""
    stated, calculated = understood.stated.get("vat"), calculated_vat(understood)
    if stated is None or calculated is None:
        return None
    if abs(stated - calculated) <= tolerance(understood, stated, understood.scale):
        return None
    return Refused("vat_mismatch", f"The document states vat {as_text(stated)}, calculated {as_text(calculated)}.")


def _stated_for(name: str, stated: Mapping[str, Fraction]) -> Fraction | None:
    return stated.get(name, stated.get("vat") if name == "tax" else None)


def _is_vat(name: str) -> bool:
    series = series_of(name)
    return (series.base if series else name) in _VAT


def _titles_contradict(variant: Variant, understood: Understood) -> Refused | None:
    """Net, VAT and gross that the document states must add up to the last minor unit, whatever we calculate."""
    stated = understood.stated
    if "gross" in variant.stated or not {"vat", "gross"} <= set(stated):
        return None
    nets = [value for name, value in understood.amounts.items() if name == "net" or name.startswith("net_")]
    net = stated.get("net", sum(nets, Fraction(0)) if nets else None)
    if net is None or net + stated["vat"] == stated["gross"]:
        return None
    printed = f"net {as_text(net)}, VAT {as_text(stated['vat'])}, gross {as_text(stated['gross'])}"
    return Refused("unbalanced", f"The totals of the document contradict each other: {printed}.")


def _implied(understood: Understood) -> Figures:
    """Inputs that the record states under another name, or that its facts settle."""
    amounts, stated, facts = understood.amounts, understood.stated, understood.facts
    implied: Figures = {"lines_count": lines_count(understood)}
    if facts.get("tax") == "none" or facts.get("vat_details") == "none":
        implied["rate"] = Fraction(0)
    if facts.get("deductible_share") == "full":
        implied["deductible"] = Fraction(100)
    net = amounts.get("net", stated.get("net"))
    vat = stated.get("vat", calculated_vat(understood))
    if vat is None:
        vat = implied.get("rate")
    if net is not None:
        implied["net_fc"] = net
    if net is not None and vat is not None:
        implied |= {"vat_fc": vat, "vat_doc": vat}
        implied |= {name: stated.get("gross", net + vat) for name in ("gross_fc", "gross_doc")}
    return implied


def _out_of_range(name: str, value: Fraction, kind: InputKind, scale: int, *, may_be_negative: bool) -> Refused | None:
    if value < 0 and not may_be_negative:
        return Refused("wrong_sign", f"{name} is {as_text(value)}; the kind of document gives the sign.")
    reasons = {
        "has more decimals than its currency": kind == "amount" and (value * 10**scale).denominator != 1,
        "is above 100 percent": name in _AT_MOST_100 and value > 100,
        "is not a rate above zero": kind == "exchange rate" and value <= 0,
        "is not a whole number above zero": kind == "count"
        and (value.denominator != 1 or (value == 0 and name not in _MAY_BE_ZERO)),
    }
    for reason, is_so in reasons.items():
        if is_so:
            return Refused("out_of_tolerance", f"{name} {as_text(value)} {reason}.")
    return None


def _scale_of(name: str, understood: Understood, setting: Setting) -> int:
    if name == "fc":  # an open item's currency, which a statement line does not name
        return MOST_DECIMALS
    return understood.scale if name.endswith("_fc") else setting.scale


def _kind(general: General, name: str) -> InputKind:
    meaning = general.meaning_of(name)
    return meaning.kind if meaning else "amount"


def _meaning(general: General, name: str) -> str:
    meaning = general.meaning_of(name)
    return meaning.meaning if meaning else "amount"


def as_text(value: Fraction) -> str:
    """A figure for a person to read."""
    return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():f}"
