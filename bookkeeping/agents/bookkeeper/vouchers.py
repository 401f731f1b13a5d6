"""Vouchers that state their own accounts, sides and amounts: they are posted as written, or not at all."""

from fractions import Fraction
from typing import Final

from bookkeeping.agents.bookkeeper.figures import as_text
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.select import Choice

INCOME_STATEMENT: Final = ("4", "5", "6", "7", "8")
"""First digits of the chart's revenue and expense accounts."""


def states_nothing(choice: Choice) -> Refused | None:
    """The refusal of a voucher without lines whose rule has no accounts of its own: those of its lines are examples."""
    if all(line.account_by == "voucher" for line in choice.variant.lines):
        return Refused("missing_input", f"The {choice.rule.doc_type} does not state its lines (account, side, amount).")
    return None


def check_voucher(choice: Choice) -> Refused | None:
    """None when the lines that the record states can be posted by the chosen rule.

    Refuses lines on a document that has none of its own, amounts that are not above zero, a voucher that does not
    balance (unless its rule has a line that takes the difference), and a reclassification between the income statement
    and the balance sheet.
    """
    lines = choice.understood.record.lines
    own = [line for line in choice.variant.lines if line.account_by == "voucher"]
    if not own:
        return Refused("unsupported_combination", f"A {choice.rule.doc_type} does not state its own ledger lines.")
    if any(line.amount <= 0 for line in lines):
        return Refused("wrong_sign", "A line of the voucher is not above zero; its side gives the sign.")
    difference = sum((Fraction(line.amount) * (1 if line.side == "debit" else -1) for line in lines), Fraction(0))
    if difference and len(own) == len(choice.variant.lines):
        return Refused("unbalanced", f"The voucher's debits and credits differ by {as_text(abs(difference))}.")
    statements = {line.account.startswith(INCOME_STATEMENT) for line in lines}
    if choice.rule.doc_type == "reclassification_memo" and len(statements) > 1:
        return Refused("unsupported_combination", "A reclassification stays in the income statement or out of it.")
    return None
