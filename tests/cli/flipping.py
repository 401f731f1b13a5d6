"""Runs inside a copy of the project: one posting rule after another is made wrong on disk, and the board is looked at.

    python -m flipping SHARE OF     every OF-th rule from number SHARE on; one JSON value on stdout

Nothing in memory is touched: the rule file is written, the process forgets the rulebook that it has read, and the usual
steps of a run follow, on the examples that use the rule, over the real ledger and the real results database.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
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
    """A rule made wrong, and the board of then.

    ``booked`` are the examples whose lines it makes, ``users`` all whose outcome may depend on it; ``red`` says by
    example why it is red.
    """

    rule: str
    fault: str
    booked: tuple[str, ...]
    users: tuple[str, ...]
    state: str
    red: Mapping[str, str]


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
def wrong_on_disk(path: Path, doc_type: str) -> Iterator[str]:
    """As long as this lasts the file has this one rule wrong. The rulebook is read again then, and afterwards."""
    before = path.read_bytes()
    rules = json.loads(before)
    number = next(number for number, rule in enumerate(rules) if rule["doc_type"] == doc_type)
    fault, rules[number] = made_wrong(rules[number])
    path.write_text(json.dumps(rules), "utf-8")
    read_again()
    try:
        yield fault
    finally:
        path.write_bytes(before)
        rulebook.cache_clear()


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


def main(share: int, of: int) -> dict[str, Any]:
    """The honest board of the examples that may use the rules of this share, then the board of each rule made wrong."""
    written = list(written_rules(FOLDER))
    mine = [(path, rule["doc_type"]) for path, rule in written][share::of]
    (suite,) = load_suite(settings().datasets, [AGENT])
    mentioned = {example.id: doc_types(example) for example in suite.dataset.examples}
    reach = {name: reachable(found, [rule for _, rule in written]) for name, found in mentioned.items()}
    mirrors = {example.id for example in suite.dataset.examples if "reverses" in example.inputs["record"]}
    with storage(settings()) as where, Database(where.database_url) as database:
        wanted = {doc_type for _, doc_type in mine}
        honest = board_of(database, [name for name, found in reach.items() if found & wanted])
        applied = rules_applied(database, honest)
        flips = []
        for path, doc_type in mine:
            users = tuple(name for name in reach if doc_type in mentioned[name] or applied.get(name) == doc_type)
            booked = tuple(name for name in users if applied.get(name) == doc_type and name not in mirrors)
            if not users:
                flips.append(Flip(doc_type, "none: it has no example", booked, users, "not run", {}))
                continue
            with wrong_on_disk(path, doc_type) as fault:
                board = board_of(database, users)
            red = {item.id: item.reason for item in board.examples if item.verdict.is_red}
            flips.append(Flip(doc_type, fault, booked, users, board.state.value, red))
    return {"honest": honest.state.value, "n": len(honest.examples), "flips": [asdict(flip) for flip in flips]}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
