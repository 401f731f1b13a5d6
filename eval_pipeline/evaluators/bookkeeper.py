"""How the Bookkeeper is graded: exact comparisons of what the ledger holds after the record, read back from it."""

from collections.abc import Iterable, Mapping
from typing import Any

from bookkeeping.agents.bookkeeper.outputs import BookkeeperOutputs
from eval_pipeline.evaluator import evaluator, exact
from eval_pipeline.rules.rule import Offence, static_rule
from eval_pipeline.suite import AgentSuite
from eval_pipeline.verdict import Score

Expected = Mapping[str, Any]


def _told(actual: object, wanted: object) -> str | None:
    return None if exact(actual, wanted) else f"{actual!r}, expected {wanted!r}"


@evaluator(reads={"status"}, scores={"status_correct"})
def status(outputs: BookkeeperOutputs, expected: Expected) -> Iterable[Score]:
    """Posted, refused, or nothing to post."""
    yield Score("status_correct", exact(outputs.get("status"), expected["status"]), _reason(outputs, expected))


def _reason(outputs: BookkeeperOutputs, expected: Expected) -> str | None:
    told = _told(outputs.get("status"), expected["status"])
    return told and f"{told}: {outputs.get('explanation')}"


@evaluator(reads={"reason"}, scores={"reason_correct"})
def reason(outputs: BookkeeperOutputs, expected: Expected) -> Iterable[Score]:
    """The code of a refusal, or of posting nothing."""
    actual = outputs.get("reason")
    yield Score("reason_correct", exact(actual, expected["reason"]), _told(actual, expected["reason"]))


@evaluator(reads={"lines"}, scores={"accounts_correct", "lines_correct"})
def lines(outputs: BookkeeperOutputs, expected: Expected) -> Iterable[Score]:
    """The ledger lines: the accounts with their sides, then all of it with the amounts, in ledger order."""
    actual = outputs.get("lines")
    wanted = expected["lines"]
    yield Score(
        "accounts_correct", exact(_accounts(actual), _accounts(wanted)), _told(_accounts(actual), _accounts(wanted))
    )
    yield Score("lines_correct", exact(actual, wanted), _first_difference(actual, wanted))


def _accounts(lines: Any) -> list[Any]:
    if not isinstance(lines, list):
        return [lines]
    return [f"{line.get('side')} {line.get('account')}" if isinstance(line, dict) else line for line in lines]


def _first_difference(actual: Any, wanted: list[Any]) -> str | None:
    if exact(actual, wanted):
        return None
    if not isinstance(actual, list):
        return f"no lines but {actual!r}"
    for number, (left, right) in enumerate(zip(actual, wanted, strict=False), 1):
        if not exact(left, right):
            return f"line {number} is {left!r}, expected {right!r}"
    return f"{len(actual)} lines, expected {len(wanted)}"


@evaluator(reads={"n_entries"}, scores={"n_entries_correct"})
def n_entries(outputs: BookkeeperOutputs, expected: Expected) -> Iterable[Score]:
    """How many ledger entries the record gave rise to."""
    actual = outputs.get("n_entries")
    yield Score("n_entries_correct", exact(actual, expected["n_entries"]), _told(actual, expected["n_entries"]))


@evaluator(reads={"n_lines"}, scores={"n_lines_correct"})
def n_lines(outputs: BookkeeperOutputs, expected: Expected) -> Iterable[Score]:
    """How many ledger lines the record gave rise to."""
    actual = outputs.get("n_lines")
    yield Score("n_lines_correct", exact(actual, expected["n_lines"]), _told(actual, expected["n_lines"]))


@evaluator(reads={"balances"}, scores={"balances_correct"})
def balances(outputs: BookkeeperOutputs, expected: Expected) -> Iterable[Score]:
    """What the record changed on each account, debit positive."""
    actual = outputs.get("balances")
    yield Score("balances_correct", exact(actual, expected["balances"]), _told(actual, expected["balances"]))


@evaluator(reads={"posting_date"}, scores={"posting_date_correct"})
def posting_date(outputs: BookkeeperOutputs, expected: Expected) -> Iterable[Score]:
    """The day on which it is in the books."""
    actual = outputs.get("posting_date")
    yield Score(
        "posting_date_correct", exact(actual, expected["posting_date"]), _told(actual, expected["posting_date"])
    )


@static_rule("expected_lines_balance", "an expectation that no ledger could hold can only be met by a wrong one")
def expected_lines_balance(suite: AgentSuite) -> Iterable[Offence]:
    """Expected lines have equal debits and credits, to the last minor unit, and stand for themselves in balances."""
    from decimal import Decimal

    for example in suite.dataset.examples:
        totals = {"debit": Decimal(0), "credit": Decimal(0)}
        for line in example.expected.get("lines", ()):
            totals[line["side"]] += Decimal(line["amount"])
        if totals["debit"] != totals["credit"]:
            told = f"debits {totals['debit']} and credits {totals['credit']} differ"
            source = suite.dataset.sources[example.id]
            yield Offence("expected_lines_balance", suite.name, told, source, example.id, "lines")
