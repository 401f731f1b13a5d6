"""Each posting rule, made wrong on disk by itself, turns the Bookkeeper's board red on every example that it books.

Not a sample: all rules, over the real datasets, ledger and graph. Rules that have no example in common are wrong at the
same time; no example sees more than one. The fault is debit and credit swapped in every line; for the four kinds
of voucher that may state the sides of their lines themselves also that the rule does not let them. A reversal that
mirrors an entry takes no line from its rule, so it is not among the examples that the rule books.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli import flipping, warm_start
from tests.cli.project import ROOT, Project

TIMEOUT_S = 400
N_RULES = 98
RULES = tuple(rule["doc_type"] for _, rule in flipping.written_rules(flipping.FOLDER))


def flips(project: Project) -> dict[str, Any]:
    """What ``flipping`` says of all rules."""
    shutil.copytree(ROOT / "datasets", project.folder / "datasets", dirs_exist_ok=True)
    shutil.copy(Path(flipping.__file__), project.folder / "flipping.py")
    code, out, err = warm_start.run(("flipping",), project.folder, project.env(), TIMEOUT_S)
    assert code == 0, err
    told: dict[str, Any] = json.loads(out)
    return told


def problems(flip: dict[str, Any]) -> list[str]:
    """What a rule made wrong did not do to the board."""
    name, red = f"{flip['rule']} ({flip['fault']})", set(flip["red"])
    found = []
    if not flip["booked"]:
        found.append(f"{name}: no example is booked by it")
    if flip["state"] != "RED":
        found.append(f"{name}: the board is {flip['state']}")
    found += [f"{name}: {example} is booked by it and not red" for example in sorted(set(flip["booked"]) - red)]
    found += [f"{name}: {example} is red and does not use it" for example in sorted(red - set(flip["users"]))]
    return found


def test_there_are_98_rules_and_each_has_a_name_of_its_own() -> None:
    assert len(RULES) == len(set(RULES)) == N_RULES


@pytest.mark.timeout(TIMEOUT_S + 20)
def test_each_rule_made_wrong_turns_the_board_red_on_every_example_that_it_books(bare: Project) -> None:
    told = flips(bare)
    assert told["honest"] == "GREEN"
    assert sorted(flip["rule"] for flip in told["flips"]) == sorted(RULES)
    assert [problem for flip in told["flips"] for problem in problems(flip)] == []
