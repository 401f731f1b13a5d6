"""The rules as data: they fit together, and one that does not is named."""

import json
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from bookkeeping.agents.bookkeeper.rule_file import RuleFileError
from bookkeeping.agents.bookkeeper.rulebook import FOLDER, load_rulebook, rulebook
from bookkeeping.ledger.chart import standard_chart

Rules = list[dict[str, Any]]
DECIDED = [rule for rule in rulebook().rules.values() if rule.decision is not None]


@pytest.mark.parametrize("rule", DECIDED, ids=lambda rule: rule.doc_type)
def test_every_combination_of_deciding_fields_fits_one_row(rule: Any) -> None:
    fields = {field.name: field.values for field in rule.decision.fields}
    for values in product(*fields.values()):
        combination = dict(zip(fields, values, strict=True))
        fitting = [
            row for row in rule.decision.select if all(combination[name] in row.where[name] for name in row.where)
        ]
        assert len(fitting) == 1 or (not fitting and rule.decision.otherwise), combination


def test_every_account_that_a_rule_or_a_map_names_is_in_the_chart() -> None:
    chart = {account.code for account in standard_chart()}
    lines = (line for rule in rulebook().rules.values() for v in rule.variants.values() for line in v.lines)
    mapped = {code for accounts in rulebook().general.maps.values() for code in accounts.values()}
    assert {line.account for line in lines} | mapped <= chart


def test_every_rule_says_which_way_its_document_goes() -> None:
    kinds = {name: (rule.direction, rule.kind) for name, rule in rulebook().rules.items()}
    assert kinds["sales_invoice"] == ("issued", "invoice")
    assert kinds["utility_bill"] == kinds["supplier_invoice"] == ("received", "invoice")
    assert kinds["supplier_credit_note"] == ("received", "credit")
    assert kinds["bank_statement"] == ("received", "statement")


@pytest.fixture
def broken(tmp_path: Path) -> Callable[[str, Callable[[Rules], None]], Path]:
    """A copy of the rules with one thing changed."""

    def make(family: str, change: Callable[[Rules], None]) -> Path:
        folder = tmp_path / "rules"
        shutil.copytree(FOLDER, folder)
        path = folder / f"{family}.json"
        rules = json.loads(path.read_text("utf-8"))
        change(rules)
        path.write_text(json.dumps(rules), "utf-8")
        return folder

    return make


def _first_variant(rules: Rules) -> dict[str, Any]:
    variant: dict[str, Any] = rules[0]["variants"][0]
    return variant


def _amount(rules: Rules, text: str) -> None:
    _first_variant(rules)["lines"][1]["amount"] = text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rules: _amount(rules, "nett"), r"sales_invoice\.domestic_vat: line 2: nett is neither"),
        (lambda rules: _amount(rules, "net+"), r"sales_invoice\.domestic_vat: expected a value"),
        (lambda rules: _first_variant(rules)["derived"].update(vat="r2(netto)"), "derived vat: netto"),
        (lambda rules: _first_variant(rules)["inputs"].append("colour"), "input 'colour' is not listed"),
        (lambda rules: _first_variant(rules).update(signed_inputs=["vat"]), "not all inputs"),
        (lambda rules: _first_variant(rules).update(booked_as_stated=["net"]), "only derived values"),
        (lambda rules: _first_variant(rules).update(requires=[{"that": "net>0", "else": "odd"}]), "no code 'odd'"),
        (lambda rules: _first_variant(rules)["lines"][0].update(key="revenue_a"), "line 1: a key without account_by"),
        (lambda rules: rules[0]["variants"].append(rules[0]["variants"][0]), "domestic_vat: written twice"),
        (lambda rules: rules.append(rules[0]), "sales_invoice: written twice"),
        (lambda rules: rules[0].pop("decided_by"), "several variants and nothing that decides"),
        (lambda rules: rules[0]["decided_by"]["select"].pop(), "sales_invoice: 0 rows fit"),
        (lambda rules: rules[0]["decided_by"]["select"][0]["where"].pop("rounding"), "sales_invoice: 2 rows fit"),
        (lambda rules: rules[0]["decided_by"]["select"][0].update(variant="domestic"), "one thing that exists"),
        (lambda rules: rules[0]["decided_by"]["select"][0]["where"].update(tax=["half"]), "no field tax"),
        (lambda rules: rules[0]["negative_is"].update(doc_type="refund"), "negative_is leads to no rule"),
        (lambda rules: rules[0].update(colour="red"), "sales.json"),
    ],
)
def test_a_rule_that_cannot_be_used_is_named(
    broken: Callable[[str, Callable[[Rules], None]], Path], change: Callable[[Rules], None], message: str
) -> None:
    with pytest.raises(RuleFileError, match=message):
        load_rulebook(broken("sales", change))


def test_a_computed_field_needs_a_condition_for_every_value(
    broken: Callable[[str, Callable[[Rules], None]], Path],
) -> None:
    def change(rules: Rules) -> None:
        rule = next(rule for rule in rules if rule["doc_type"] == "depreciation_schedule")
        del rule["decided_by"]["fields"]["month"]["conditions"]["last"]

    with pytest.raises(RuleFileError, match="depreciation_schedule: decided_by month: every value needs a condition"):
        load_rulebook(broken("fixed_assets", change))
