"""Computed lines: a variant's lines with their amounts, and the accounts that they go to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from bookkeeping.agents.bookkeeper.figures import Figures, Setting
from bookkeeping.agents.bookkeeper.formulas import Binary, Call, Expression, Name, evaluate
from bookkeeping.agents.bookkeeper.rule_file import AccountBy
from bookkeeping.agents.bookkeeper.rules import RuleLine, Variant
from bookkeeping.agents.bookkeeper.series import mark_of
from bookkeeping.agents.bookkeeper.understanding import Understood
from bookkeeping.ledger.entry import Side

ROUNDING: Final = "7080"
FX_GAIN: Final = "7030"
FX_LOSS: Final = "7040"


@dataclass(frozen=True, slots=True)
class ComputedLine:
    """One line on its way to the ledger.

    amount: exact, of any sign; a negative one ends on the other side. In the currency of the computation, later in
        book currency. document_amount: what it is in a foreign document's currency.
    mark: which rate or layer of the document it belongs to, None for all.
    """

    side: Side
    account: str
    amount: Fraction
    account_by: AccountBy | None = None
    key: str | None = None
    mark: str | None = None
    in_book_currency: bool = False
    clears: str | None = None
    absorbs: bool = False
    document_amount: Fraction | None = None
    text: str | None = None

    @property
    def signed(self) -> Fraction:
        """Debit positive."""
        return self.amount if self.side == "debit" else -self.amount

    def plus(self, difference: Fraction) -> "ComputedLine":
        """The line with ``difference`` added to its amount, on its own side."""
        return replace(self, amount=self.amount + difference)


def computed_lines(
    variant: Variant, figures: Figures, understood: Understood, setting: Setting
) -> tuple[ComputedLine, ...]:
    """The lines of ``variant`` in its order, zero ones among them; a voucher's own lines where it states them."""
    if understood.record.lines and any(line.account_by == "voucher" for line in variant.lines):
        return _voucher_lines(variant, understood)
    return tuple(_computed(line, figures, understood, setting) for line in variant.lines)


def balance_of(lines: Iterable[ComputedLine]) -> Fraction:
    """Debits less credits."""
    return sum((line.signed for line in lines), Fraction(0))


def balancing_line(account: str, lines: Iterable[ComputedLine]) -> ComputedLine:
    """The line on ``account`` that makes ``lines`` balance: its side is the one that does."""
    missing = -balance_of(lines)
    return ComputedLine("debit" if missing >= 0 else "credit", account, abs(missing))


def finished(lines: Iterable[ComputedLine]) -> tuple[ComputedLine, ...]:
    """``lines`` as the ledger takes them: zero ones left out, negative ones on the other side (general.amounts)."""
    return tuple(_above_zero(line) for line in lines if line.amount != 0)


def _above_zero(line: ComputedLine) -> ComputedLine:
    if line.amount < 0:
        other: Side = "credit" if line.side == "debit" else "debit"
        line = replace(line, side=other, amount=-line.amount)
    if line.account_by == "fx":
        return replace(line, account=FX_GAIN if line.side == "credit" else FX_LOSS)
    return line


def _computed(line: RuleLine, figures: Figures, understood: Understood, setting: Setting) -> ComputedLine:
    scale = understood.terms.scale if line.in_book_currency else setting.scale
    return ComputedLine(
        side=line.side,
        account=line.account,
        amount=evaluate(line.amount, figures, scale),
        account_by=line.account_by,
        key=line.key,
        mark=line.mark or mark_of(line.amount),
        in_book_currency=line.in_book_currency,
        clears=line.clears,
        absorbs=line.absorbs,
        document_amount=_foreign_part(line.amount, figures, understood, setting),
    )


def _foreign_part(amount: Expression, figures: Figures, understood: Understood, setting: Setting) -> Fraction | None:
    """The foreign amount that a variant with rates of its own converts in this line: x of ``r2(x*fx)``."""
    if not understood.is_foreign or setting.converts:
        return None
    match amount:
        case Call("r2", (Binary("*", Name(foreign), Name(rate)),)) if rate.startswith("fx"):
            return figures[foreign]
    return Fraction(0)


def _voucher_lines(variant: Variant, understood: Understood) -> tuple[ComputedLine, ...]:
    """The lines as the voucher writes them, then the variant's line that is not the voucher's, for the difference."""
    stated = tuple(
        ComputedLine(line.side, line.account, Fraction(line.amount), text=line.text) for line in understood.record.lines
    )
    others = [line for line in variant.lines if line.account_by != "voucher"]
    return stated + tuple(balancing_line(line.account, stated) for line in others)
