"""Last step: what is handed back. Lines and balances are those that the ledger has, not those that were computed."""

from decimal import Decimal

from bookkeeping.agents.bookkeeper.entry import Booked
from bookkeeping.agents.bookkeeper.outputs import BookkeeperOutputs, PostedLine
from bookkeeping.agents.bookkeeper.results import Refused, Stop
from bookkeeping.agents.bookkeeper.select import Choice


def report(choice: Choice | None, result: Booked | Stop) -> BookkeeperOutputs:
    """The outputs for a record that ended as ``result``; ``choice`` is None when no treatment was chosen."""
    rule = choice.name if choice else None
    if isinstance(result, Booked):
        return _posted(result, rule)
    return BookkeeperOutputs(
        status="refused" if isinstance(result, Refused) else "nothing_to_post",
        reason=result.reason,
        rule=rule,
        n_entries=0,
        n_lines=0,
        lines=[],
        balances={},
        posting_date=None,
        entry_hashes=[],
        explanation=result.explanation,
    )


def _posted(booked: Booked, rule: str | None) -> BookkeeperOutputs:
    entry = booked.entry
    lines = [PostedLine(account=line.account, side=line.side, amount=_text(line.amount)) for line in entry.lines]
    return BookkeeperOutputs(
        status="posted",
        reason=None,
        rule=rule,
        n_entries=1,
        n_lines=len(lines),
        lines=lines,
        balances={account: _text(amount) for account, amount in booked.balances.items()},
        posting_date=entry.posting_date.isoformat(),
        entry_hashes=[booked.posted.hash],
        explanation=f"Booked as {rule} on {entry.posting_date}, voucher {booked.posted.voucher}.",
    )


def _text(amount: Decimal) -> str:
    return f"{amount:f}"
