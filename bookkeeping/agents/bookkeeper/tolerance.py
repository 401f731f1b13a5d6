"""By how much a total that a document prints may differ from the one calculated (general.vat)."""

from fractions import Fraction
from typing import Final

from bookkeeping.agents.bookkeeper.naming import series_of
from bookkeeping.agents.bookkeeper.understanding import Understood

VAT_UNIT: Final = "vat_unit"
"""In a formula: the unit to which the document rounds its VAT."""


def tolerance(understood: Understood, stated: Fraction, scale: int) -> Fraction:
    """The most by which ``stated`` may be off: one unit for each line; ``scale`` is that of its currency."""
    return lines_count(understood) * rounding_unit(understood, stated, scale)


def rounding_unit(understood: Understood, stated: Fraction, scale: int) -> Fraction:
    """What ``stated`` was rounded to: the minor unit, or the larger one that its currency is rounded to in practice.

    The larger one only where ``stated`` is whole in it: a document that prints fillér did not round to forints.
    """
    whole = understood.unit_in_practice
    if whole is not None and stated % whole == 0:
        return whole
    return Fraction(1, 10**scale)


def lines_count(understood: Understood) -> Fraction:
    """How many lines the document has: as stated, else one for each of its rates."""
    marks = {series.mark for name in understood.amounts if (series := series_of(name)) and series.base == "rate"}
    return understood.amounts.get("lines_count", Fraction(max(1, len(marks))))
