"""From document currency to book currency, line by line (general.multi_currency)."""

from dataclasses import replace
from fractions import Fraction
from typing import Final

from bookkeeping.agents.bookkeeper.figures import Setting, as_text
from bookkeeping.agents.bookkeeper.formulas import round_half_away
from bookkeeping.agents.bookkeeper.lines import ROUNDING, ComputedLine, balance_of, balancing_line
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.totals import BOOK_VAT
from bookkeeping.agents.bookkeeper.understanding import Understood

VAT: Final = frozenset({"1410", "2210"})
BOOKED: Final = "_book"
"""Ends the name of an amount as it stands in the book, beside the same amount in document currency."""


def convert(
    lines: tuple[ComputedLine, ...], understood: Understood, setting: Setting
) -> tuple[ComputedLine, ...] | Refused:
    """``lines`` of a foreign document in book currency, each rounded by itself, the residual as the last line.

    A line that clears an amount booked before keeps the book amount of that entry, and the cost line takes the
    difference. VAT that the document states in book currency is booked as stated. ``lines`` as they are where they
    are in book currency already.
    """
    if not setting.converts:
        return _with_book_vat(lines, understood) if understood.is_foreign else lines
    rate = understood.amounts.get("fx")
    if rate is None:
        return Refused("missing_rate", f"There is no exchange rate from {understood.currency}.")
    if rate <= 0:
        return Refused("out_of_tolerance", "The exchange rate is not above zero.")
    kept = sum((line.signed for line in lines if line.in_book_currency), Fraction(0))
    converted = tuple(_converted(line, rate, kept, understood.terms.scale) for line in lines)
    cleared = _with_cleared_amounts(converted, understood)
    if isinstance(cleared, Refused):
        return cleared
    balanced = _with_residual(cleared)
    return _with_book_vat(balanced, understood)


def _converted(line: ComputedLine, rate: Fraction, kept: Fraction, scale: int) -> ComputedLine:
    """A line that absorbs was computed as what is left after ``kept``: that part is taken out before converting."""
    if line.in_book_currency:
        return replace(line, document_amount=Fraction(0))
    if line.absorbs:
        kept_here = kept if line.side == "debit" else -kept
        whole = line.amount + kept_here
        amount = round_half_away(whole * rate, scale) - kept_here
        return replace(line, amount=amount, document_amount=Fraction(0))
    return replace(line, amount=round_half_away(line.amount * rate, scale), document_amount=line.amount)


def _with_cleared_amounts(
    lines: tuple[ComputedLine, ...], understood: Understood
) -> tuple[ComputedLine, ...] | Refused:
    """A line that clears an advance keeps the book amount of then; the cost or revenue line takes the difference."""
    result = list(lines)
    for position, line in enumerate(lines):
        if line.clears is None or line.amount == 0:
            continue
        booked = understood.amounts.get(f"{line.clears}{BOOKED}")
        if booked is None:
            explanation = f"A foreign advance is cleared as it was booked, and {line.clears}{BOOKED} is not stated."
            return Refused("missing_input", explanation)
        difference = booked - line.amount
        absorber = next((n for n, other in enumerate(lines) if other.absorbs), 0)
        result[position] = line.plus(difference)
        result[absorber] = result[absorber].plus(-difference if lines[absorber].side == line.side else difference)
    return tuple(result)


def _with_residual(lines: tuple[ComputedLine, ...]) -> tuple[ComputedLine, ...]:
    if balance_of(lines) == 0:
        return lines
    return (*lines, replace(balancing_line(ROUNDING, lines), document_amount=Fraction(0)))


def _with_book_vat(lines: tuple[ComputedLine, ...], understood: Understood) -> tuple[ComputedLine, ...] | Refused:
    """Puts in the VAT that the document states in book currency; the residual line takes the difference."""
    stated = understood.stated.get(BOOK_VAT)
    if stated is None:
        return lines
    positions = [n for n, line in enumerate(lines) if line.account in VAT and line.amount != 0]
    if len(positions) != 1:
        return Refused("unsupported_combination", "VAT is stated in book currency, and there is not one line for it.")
    off_by = stated - lines[positions[0]].amount
    if abs(off_by) > understood.terms.parameters["small_difference_max"]:
        return Refused("out_of_tolerance", f"VAT stated in book currency differs by {as_text(off_by)}.")
    result = [line for line in lines if line.account != ROUNDING]
    position = result.index(lines[positions[0]])
    result[position] = result[position].plus(off_by)
    return _with_residual(tuple(result))
