"""What a record may call for on top of a variant (general.modifiers), applied in their order to its lines.

Each function takes lines and returns lines, and does nothing when the record does not call for it or the variant does
it already. Zero lines are still there, so that a modifier finds the line that it changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from bookkeeping.agents.bookkeeper.conversion import convert
from bookkeeping.agents.bookkeeper.figures import Figures, Setting, as_text
from bookkeeping.agents.bookkeeper.formulas import round_half_away
from bookkeeping.agents.bookkeeper.lines import ROUNDING, ComputedLine
from bookkeeping.agents.bookkeeper.periods import ends_after_month_of
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.rule_file import General, Modifier
from bookkeeping.agents.bookkeeper.select import Choice

Lines = tuple[ComputedLine, ...]

INPUT_VAT: Final = frozenset({"1410", "1420"})
PREPAID_EXPENSES: Final = "1310"
DEFERRED_REVENUE: Final = "2120"
ADVANCES_PAID: Final = "1320"
PAYABLES: Final = "2010"
OPEN_ITEMS: Final = frozenset({"1110", "2010"})
_COST: Final = ("5030", "6", "7020")
_BEARS_BLOCKED_VAT: Final = ("5020", "5030", "6", "7020", "1210", "1220", "1230", "1310", "1320", "1510", "1550")


@dataclass(frozen=True, slots=True)
class Application:
    """What a modifier may look at: the choice, the figures of the variant, the currency it is computed in."""

    choice: Choice
    figures: Figures
    setting: Setting

    @property
    def advances(self) -> Fraction:
        """What the prepayment modifier takes off the open item; zero when it does not apply."""
        amounts = self.choice.understood.amounts
        if "adv_net" in self.choice.variant.inputs or "prepayment" not in self.choice.rule.modifiers:
            return Fraction(0)
        return amounts.get("adv_net", Fraction(0)) + amounts.get("adv_vat", Fraction(0))


def modified(general: General, lines: Lines, application: Application) -> Lines | Refused:
    """``lines`` after all modifiers of the rule, in book currency."""
    if application.choice.understood.record.lines:
        return lines
    for name in general.modifiers.order:
        if name in application.choice.rule.modifiers:
            changed = _MODIFIERS[name](lines, application)
            if isinstance(changed, Refused):
                return changed
            lines = changed
    return lines


def blocked_tax(lines: Lines, application: Application) -> Lines | Refused:
    """Input tax is deducted in part only; what is left of it is cost, on the cost line of the same rate."""
    amounts = application.choice.understood.amounts
    share = amounts.get("deductible", Fraction(100))
    if share == 100 or "deductible" in application.choice.variant.inputs:
        return lines
    if not 0 <= share <= 100:
        reason = "wrong_sign" if share < 0 else "out_of_tolerance"
        return Refused(reason, f"The deductible share is {as_text(share)} percent.")
    result = list(lines)
    for position, line in enumerate(lines):
        if line.account not in INPUT_VAT or line.amount == 0:
            continue
        deducted = round_half_away(line.amount * share / 100, application.setting.scale)
        result[position] = replace(line, amount=deducted)
        bearers = [n for n, other in enumerate(lines) if _bears(other, line)]
        if not bearers:
            return Refused("unsupported_combination", "Input tax is blocked, and no cost line can bear it.")
        parts = _by_rate([lines[n] for n in bearers], line.amount - deducted, share, application)
        for bearer, part in zip(bearers, parts, strict=True):
            result[bearer] = result[bearer].plus(part)
    return tuple(result)


def deferral(lines: Lines, application: Application) -> Lines:
    """The service goes on after the month: cost goes to prepaid expenses, revenue to deferred revenue."""
    understood = application.choice.understood
    end = understood.record.service_period_end
    is_later = end is not None and ends_after_month_of(understood.posting_date, end)
    if not is_later and understood.facts.get("period") != "later":
        return lines
    return tuple(_deferred(line) for line in lines)


def prepayment(lines: Lines, application: Application) -> Lines | Refused:
    """An advance of ours is set off: its VAT was deducted before, and less is owed."""
    amounts = application.choice.understood.amounts
    net, vat = amounts.get("adv_net"), amounts.get("adv_vat")
    if "adv_net" in application.choice.variant.inputs or (net is None and vat is None):
        return lines
    if net is None or vat is None:
        return Refused("missing_input", "An advance needs adv_net and adv_vat, 0 where it bore no VAT.")
    if net < 0 or vat < 0:
        return Refused("wrong_sign", "The advance that is set off is below zero.")
    deducted = [n for n, line in enumerate(lines) if line.account == "1410"]
    owed = [n for n, line in enumerate(lines) if line.account == PAYABLES]
    if len(owed) != 1 or (vat and len(deducted) != 1):
        return Refused("unsupported_combination", "There is no line that the advance could be set off against.")
    result = list(lines)
    if vat:
        result[deducted[0]] = lines[deducted[0]].plus(-vat)
    result[owed[0]] = lines[owed[0]].plus(-(net + vat))
    result.insert(owed[0], ComputedLine("credit", ADVANCES_PAID, net, clears="adv_net"))
    return tuple(result)


def cash_rounding(lines: Lines, application: Application) -> Lines | Refused:
    """The document rounds what is payable to the smallest coin; the difference goes to the rounding account."""
    choice = application.choice
    payable = choice.understood.amounts.get("payable", choice.understood.stated.get("payable"))
    known = {*choice.variant.inputs, *choice.variant.derived_names, *choice.variant.stated}
    if payable is None or "payable" in known:
        return lines
    open_items = [n for n, line in enumerate(lines) if line.account in OPEN_ITEMS]
    if len(open_items) != 1:
        return Refused("unsupported_combination", "There is no open item whose amount payable could be rounded.")
    item = lines[open_items[0]]
    difference = payable - application.advances - item.amount
    if difference == 0:
        return lines
    rate = choice.understood.amounts.get("fx", Fraction(1)) if application.setting.converts else Fraction(1)
    if abs(difference) * rate > choice.understood.terms.parameters["cash_rounding_max"]:
        explanation = f"Payable {as_text(payable)} is off by {as_text(difference)}, too much for coin rounding."
        return Refused("out_of_tolerance", explanation)
    rounded = (*lines[: open_items[0]], item.plus(difference), *lines[open_items[0] + 1 :])
    return (*rounded, ComputedLine("debit" if item.side == "credit" else "credit", ROUNDING, difference))


def multi_currency(lines: Lines, application: Application) -> Lines | Refused:
    """Every line is converted and rounded by itself; the residual goes to the rounding account, last."""
    return convert(lines, application.choice.understood, application.setting)


def _bears(cost: ComputedLine, tax: ComputedLine) -> bool:
    return cost.side == tax.side and cost.account.startswith(_BEARS_BLOCKED_VAT) and cost.account not in INPUT_VAT


def _by_rate(
    costs: Sequence[ComputedLine], blocked: Fraction, share: Fraction, application: Application
) -> list[Fraction]:
    """``blocked`` over the cost lines: each bears what is left of the VAT of its rate, the last takes the remainder.

    The deductible part of each rate is what is rounded, as on a document at one rate. Lines that share a rate bear
    in proportion to their amounts. Where the lines are not lines of one rate each, the first bears all.
    """
    scale = application.setting.scale
    if any(cost.mark is None for cost in costs):
        return [blocked] + [Fraction(0)] * (len(costs) - 1)
    whole = sum((cost.amount for cost in costs), Fraction(0))
    parts: list[Fraction] = []
    for cost in costs[:-1]:
        vat = application.figures.get(f"vat_{cost.mark}")
        if vat is not None:
            parts.append(vat - round_half_away(vat * share / 100, scale))
        else:
            parts.append(round_half_away(blocked * cost.amount / whole, scale) if whole else Fraction(0))
    return [*parts, blocked - sum(parts, Fraction(0))]


def _deferred(line: ComputedLine) -> ComputedLine:
    if line.side == "debit" and line.account.startswith(_COST):
        return replace(line, account=PREPAID_EXPENSES)
    if line.side == "credit" and line.account.startswith("40"):
        return replace(line, account=DEFERRED_REVENUE)
    return line


_MODIFIERS: Final[dict[Modifier, Callable[[Lines, Application], Lines | Refused]]] = {
    "blocked_tax": blocked_tax,
    "deferral": deferral,
    "prepayment": prepayment,
    "cash_rounding": cash_rounding,
    "multi_currency": multi_currency,
}
