"""Runs inside a copy of the project: posting rules are made wrong on disk, and the board is looked at.

    python -m flipping     one JSON value on stdout

Nothing in memory is touched: the rule file is written, the process forgets the rulebook that it has read, and the usual
steps of a run follow, on the examples that use the rule, over the real ledger and the real results database.

Rules that no example has in common are made wrong together: what any one example does then depends on one wrong rule
only, as if it had been made wrong alone, and a run serves many rules.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from bookkeeping.agents.bookkeeper.rulebook import FOLDER, rulebook
from eval_pipeline.board import Board
from eval_pipeline.dataset import Example
from eval_pipeline.pipeline import Request, make_plan, publish_board, run_one_agent, score_agents, start
from eval_pipeline.results import outcomes
from eval_pipeline.results.database import Database
from eval_pipeline.selection import Selection
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage
from eval_pipeline.suite import load_suite

AGENT = "bookkeeper"
OTHER_SIDE = {"debit": "credit", "credit": "debit"}
STATED_BY_THE_VOUCHER = "voucher"
"""``account_by`` of lines that the document writes itself, with their accounts and sides."""

Rule = dict[str, Any]


@dataclass(frozen=True)
class Flip:
    """A rule made wrong, and what became of its examples.

    ``booked`` are the examples whose lines it makes, ``users`` all whose outcome may depend on it; ``red`` says by
    example why it is red, and ``state`` is that of the board.
    """

    rule: str
    fault: str
    booked: tuple[str, ...]
    users: tuple[str, ...]
    state: str
    red: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A rule that is to be made wrong: its file, its name, its examples as in ``Flip``, and all that may come to it."""

    path: Path
    rule: str
    booked: tuple[str, ...]
    users: tuple[str, ...]
    may_come: frozenset[str]


def made_wrong(rule: Rule) -> tuple[str, Rule]:
    """The rule with debit and credit swapped in every line of every variant, and what was done to it.

    Where a voucher states the sides itself, those of the rule say nothing; so its rule no longer lets it state them.
    """
    fault = "sides swapped"
    for line in (line for variant in rule["variants"] for line in variant["lines"]):
        line["side"] = OTHER_SIDE[line["side"]]
        if line.get("account_by") == STATED_BY_THE_VOUCHER:
            del line["account_by"]
            fault = "sides swapped, and the voucher may not state its lines"
    return fault, rule


def written_rules(folder: Path) -> Iterator[tuple[Path, Rule]]:
    """All rules, each with its file."""
    for path in sorted(folder.glob("*.json")):
        if path.name != "general.json":
            yield from ((path, rule) for rule in json.loads(path.read_text("utf-8")))


@contextmanager
def wrong_on_disk(wrong: Iterable[Wrong]) -> Iterator[dict[str, str]]:
    """As long as this lasts these rules are wrong in their files: what was done to each, by name.

    The rulebook is read again then, and afterwards.
    """
    wanted = {item.rule for item in wrong}
    before = {path: path.read_bytes() for path in {item.path for item in wrong}}
    faults: dict[str, str] = {}
    for path, content in before.items():
        rules = json.loads(content)
        for number, rule in enumerate(rules):
            if rule["doc_type"] in wanted:
                faults[rule["doc_type"]], rules[number] = made_wrong(rule)
        path.write_text(json.dumps(rules), "utf-8")
    read_again()
    try:
        yield faults
    finally:
        for path, content in before.items():
            path.write_bytes(content)
        rulebook.cache_clear()


def apart(rules: Iterable[Wrong]) -> list[list[Wrong]]:
    """The rules in groups, none of which has two rules with an example in common."""
    groups: list[tuple[set[str], list[Wrong]]] = []
    for rule in rules:
        for taken, group in groups:
            if taken.isdisjoint(rule.may_come):
                taken.update(rule.may_come)
                group.append(rule)
                break
        else:
            groups.append((set(rule.may_come), [rule]))
    return [group for _, group in groups]


def read_again() -> None:
    """Reads the rulebook from disk, before a run's threads each do it."""
    rulebook.cache_clear()
    rulebook()


def board_of(database: Database, examples: Iterable[str]) -> Board:
    """The board of a run over these examples."""
    selection = Selection(tuple(f"{AGENT}/{example}" for example in examples))
    plan = make_plan(database, str(uuid4()), Request(selection), settings())
    start(database, plan)
    run_one_agent(database, plan, AGENT, settings())
    score_agents(database, plan.run_id, settings(), [AGENT])
    return publish_board(database, plan.run_id)


def rules_applied(database: Database, board: Board) -> dict[str, str]:
    """By example, the rule that made its lines; examples that posted nothing are not in it."""
    return {
        item.example_id: item.outputs["rule"].partition(".")[0]
        for item in outcomes.read(database, board.run_id, AGENT)
        if item.outputs is not None and item.outputs["status"] == "posted"
    }


def doc_types(example: Example) -> set[str]:
    """Those of an example's record, and of the records that its book holds already."""
    return {record["doc_type"] for record in (example.inputs["record"], *example.inputs["book"].get("history", ()))}


def reachable(names: Iterable[str], rules: Iterable[Rule]) -> set[str]:
    """These rules and those that they lead to: as the credit that a negative invoice is, or by ``use_rule``."""
    leads_to = {rule["doc_type"]: set(_leads_to(rule)) for rule in rules}
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        found |= waiting
        waiting = set().union(*(leads_to.get(name, set()) for name in waiting)) - found
    return found


def _leads_to(rule: Rule) -> Iterator[str]:
    if rule.get("negative_is"):
        yield rule["negative_is"]["doc_type"]
    decision = rule.get("decided_by") or {}
    for row in (*decision.get("select", ()), decision.get("otherwise") or {}):
        if row.get("use_rule"):
            yield row["use_rule"]


def flipped(database: Database, group: Sequence[Wrong]) -> Iterator[Flip]:
    """Makes the rules of a group wrong and runs all their examples."""
    users = [example for rule in group for example in rule.users]
    if not users:
        yield from (Flip(rule.rule, "none: it has no example", (), (), "not run", {}) for rule in group)
        return
    with wrong_on_disk(group) as faults:
        board = board_of(database, users)
    red = {item.id: item.reason for item in board.examples if item.verdict.is_red}
    for rule in group:
        of_rule = {name: red[name] for name in rule.users if name in red}
        yield Flip(rule.rule, faults[rule.rule], rule.booked, rule.users, board.state.value, of_rule)


def main() -> dict[str, Any]:
    """The honest board of all examples with a record, then what each rule made wrong does to its examples."""
    written = list(written_rules(FOLDER))
    (suite,) = load_suite(settings().datasets, [AGENT])
    mentioned = {item.id: doc_types(item) for item in suite.dataset.examples if "record" in item.inputs}
    reach = {name: reachable(found, [rule for _, rule in written]) for name, found in mentioned.items()}
    mirrors = {item.id for item in suite.dataset.examples if "reverses" in item.inputs.get("record", {})}
    with storage(settings()) as where, Database(where.database_url) as database:
        honest = board_of(database, list(reach))
        applied = rules_applied(database, honest)
        rules = []
        for path, doc_type in ((path, rule["doc_type"]) for path, rule in written):
            users = tuple(name for name in reach if doc_type in mentioned[name] or applied.get(name) == doc_type)
            booked = tuple(name for name in users if applied.get(name) == doc_type and name not in mirrors)
            may_come = {name for name, found in reach.items() if doc_type in found}
            rules.append(Wrong(path, doc_type, booked, users, frozenset({*users, *may_come})))
        groups = apart(rules)
        flips = [flip for group in groups for flip in flipped(database, group)]
    return {"honest": honest.state.value, "n_groups": len(groups), "flips": [asdict(flip) for flip in flips]}


if __name__ == "__main__":
    print(json.dumps(main()))
