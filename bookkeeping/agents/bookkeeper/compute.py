"""Third step: the lines, exactly as the ledger is to take them."""

from bookkeeping.agents.bookkeeper.accounts import with_account
from bookkeeping.agents.bookkeeper.figures import (
    Figures,
    Setting,
    as_text,
    derived_of,
    inputs_of,
    left_over,
    setting_of,
)
from bookkeeping.agents.bookkeeper.formulas import FigureOutOfRange, holds
from bookkeeping.agents.bookkeeper.lines import (
    ComputedLine,
    balance_of,
    computed_lines,
    finished,
)
from bookkeeping.agents.bookkeeper.modifiers import Application, modified
from bookkeeping.agents.bookkeeper.results import NothingToPost, Refused, Stop
from bookkeeping.agents.bookkeeper.rule_file import General
from bookkeeping.agents.bookkeeper.rules import Rulebook, Variant
from bookkeeping.agents.bookkeeper.select import Choice
from bookkeeping.agents.bookkeeper.series import continued
from bookkeeping.agents.bookkeeper.totals import compare, gross_difference, with_stated_gross
from bookkeeping.agents.bookkeeper.vouchers import check_voucher, states_nothing

Lines = tuple[ComputedLine, ...]


def compute(rules: Rulebook, choice: Choice) -> Lines | Stop:
    """The lines of the chosen variant for the record's figures, with its modifiers, in book currency and balanced."""
    general, understood = rules.general, choice.understood
    variant = continued(choice.variant, understood.amounts)
    setting = setting_of(general, choice.rule, variant, understood)
    try:
        figures = _figures(general, choice, variant, setting)
        if isinstance(figures, Refused):
            return figures
        lines = computed_lines(variant, figures, understood, setting) + gross_difference(variant, figures)
    except FigureOutOfRange as error:
        return Refused("out_of_tolerance", f"{choice.name} has no value for these figures: {error}.")
    placed = []
    for line in lines:
        with_its_account = with_account(general, line, understood.record.categories)
        if isinstance(with_its_account, Refused):
            return with_its_account
        placed.append(with_its_account)
    result = modified(general, tuple(placed), Application(choice, figures, setting))
    if isinstance(result, Refused):
        return result
    return _ready(choice, result)


def _figures(general: General, choice: Choice, variant: Variant, setting: Setting) -> Figures | Refused:
    """Inputs and derived values, compared with what the document states, and everything that a variant requires."""
    understood = choice.understood
    if understood.record.lines:
        return check_voucher(choice) or {}
    figures: Figures | Refused | None = states_nothing(choice) or left_over(variant, understood)
    figures = figures or inputs_of(general, variant, understood, setting)
    if not isinstance(figures, Refused):
        figures = _requirements_hold(choice, variant, figures, setting)  # those on inputs come before any arithmetic
    if not isinstance(figures, Refused):
        figures = derived_of(variant, figures, understood, setting)
    if not isinstance(figures, Refused):
        figures = _requirements_hold(choice, variant, figures, setting)
    if not isinstance(figures, Refused):
        figures = with_stated_gross(variant, figures, understood, setting)
    return figures if isinstance(figures, Refused) else compare(variant, figures, understood, setting) or figures


def _requirements_hold(choice: Choice, variant: Variant, figures: Figures, setting: Setting) -> Figures | Refused:
    """``figures``, or the refusal of the first requirement on them that does not hold."""
    for requirement in variant.requires:
        if requirement.names <= figures.keys() and not holds(requirement.condition, figures, setting.scale):
            explanation = f"{choice.name} requires {requirement.text}, and that does not hold."
            return Refused(requirement.otherwise, explanation)
    return figures


def _ready(choice: Choice, lines: Lines) -> Lines | Stop:
    if balance_of(lines) != 0:
        return Refused("unbalanced", f"Debits and credits differ by {as_text(abs(balance_of(lines)))}.")
    ready = finished(lines)
    if not ready:
        return NothingToPost("zero_amount", f"Every line of {choice.name} is zero.")
    unit = 10**choice.understood.terms.scale
    if any((line.amount * unit).denominator != 1 for line in ready):
        return Refused("out_of_tolerance", f"An amount has more decimals than {choice.understood.terms.currency} has.")
    return ready
