"""What the document states against what the rule computes."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from bookkeeping.agents.bookkeeper.figures import Figures, Setting, as_text
from bookkeeping.agents.bookkeeper.formulas import Name, evaluate
from bookkeeping.agents.bookkeeper.lines import ROUNDING, ComputedLine
from bookkeeping.agents.bookkeeper.naming import series_of
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.rules import Variant
from bookkeeping.agents.bookkeeper.tolerance import tolerance
from bookkeeping.agents.bookkeeper.understanding import Understood

BOOK_VAT: Final = "vat_book"
_DIFFERENCE: Final = "gross stated less gross calculated"


def with_stated_gross(
    variant: Variant, figures: Figures, understood: Understood, setting: Setting
) -> Figures | Refused:
    """``figures`` with the gross that the document states, where it states no VAT and is off by little.

    Off by no more than the VAT tolerance, the stated gross is what is owed, and the difference goes to the rounding
    account; off by more, the totals contradict each other (unbalanced).
    """
    stated = understood.stated.get("gross")
    if stated is None or "vat" in understood.stated or "gross" not in variant.derived_names:
        return figures
    if not any(line.amount == Name("gross") for line in variant.lines):
        return figures
    if abs(stated - figures["gross"]) > tolerance(understood, stated, setting.scale):
        return _differs("gross", stated, figures["gross"])
    return {**figures, "gross": stated, _DIFFERENCE: stated - figures["gross"]}


def gross_difference(variant: Variant, figures: Figures) -> tuple[ComputedLine, ...]:
    """The line for what ``with_stated_gross`` put on the open item, on the other side; none where it put nothing."""
    difference = figures.get(_DIFFERENCE, Fraction(0))
    if not difference:
        return ()
    item = next(line for line in variant.lines if line.amount == Name("gross"))
    return (ComputedLine("debit" if item.side == "credit" else "credit", ROUNDING, difference),)


def compare(variant: Variant, figures: Figures, understood: Understood, setting: Setting) -> Refused | None:
    """None when every total that the document states is the one computed; else which one is not."""
    computed = _document_totals(variant, figures, setting)
    for name, stated in understood.stated.items():
        if name == BOOK_VAT or (name == "payable" and name not in computed):
            continue  # the multi_currency and cash_rounding modifiers read these
        if name not in computed:
            explanation = f"The document states {name}, and this treatment computes no such total."
            return Refused("unsupported_combination", explanation)
        if stated != computed[name]:
            return _differs(name, stated, computed[name])
    return None


def _document_totals(variant: Variant, figures: Figures, setting: Setting) -> Mapping[str, Fraction]:
    """Every total by the name that a document has for it."""
    totals = dict(figures)
    totals |= {name: evaluate(formula, figures, setting.scale) for name, formula in variant.stated.items()}
    nets = [value for name, value in figures.items() if (series := series_of(name)) and series.base == "net"]
    if nets:
        totals.setdefault("net", sum(nets, Fraction(0)))
    if "tax" in totals:
        totals.setdefault("vat", totals["tax"])
    if "net" in totals:
        totals.setdefault("vat", Fraction(0))
        totals.setdefault("gross", totals["net"] + totals["vat"])
    return totals


def _differs(name: str, stated: Fraction, computed: Fraction) -> Refused:
    explanation = f"The document states {name} {as_text(stated)}, and its other figures make {as_text(computed)}."
    return Refused("unbalanced", explanation)
