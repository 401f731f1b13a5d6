"""Every static rule of the Clerk tells of what is planted, by example and key, and of nothing else."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.dataset import Dataset, Example
from eval_pipeline.evaluators.clerk.rules import (
    every_ruling_has_an_example,
    expectations_fit_governance,
    expectations_fit_the_scope,
    inputs_can_be_read,
)
from eval_pipeline.registry import agent
from eval_pipeline.suite import AgentSuite
from tests.clerk.cases import COMPANY, inputs

ACCEPTED = {"decision": "accept", "reasons": [], "approvers": [], "queued": "booking", "filed": "archive"}
HELD = {
    "decision": "hold",
    "reasons": ["approval_needed"],
    "approvers": ["ben"],
    "queued": "review",
    "filed": "pending",
}
MESSAGE = {"company": COMPANY, "message": {"user": "anna", "text": "When is R-77 due?"}}
RULES = (inputs_can_be_read, expectations_fit_governance, expectations_fit_the_scope)


def lists(value: Any) -> Any:
    """The value with lists for tuples, as JSON has them."""
    if isinstance(value, Mapping):
        return {key: lists(item) for key, item in value.items()}
    return [lists(item) for item in value] if isinstance(value, list | tuple) else value


def suite(given: Mapping[str, Any], expected: Mapping[str, Any]) -> AgentSuite:
    example = Example(id="planted", inputs=lists(given), expected=lists(expected))
    dataset = Dataset("clerk", Path("datasets/clerk"), (example,), {"planted": Path("clerk.json")})
    return AgentSuite(agent("bookkeeping.agents.clerk"), dataset)


def told(given: Mapping[str, Any], expected: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    planted = suite(given, expected)
    return [(offence.rule, offence.key) for rule in RULES for offence in rule.check(planted)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (inputs(), ACCEPTED),
        (inputs(), {**ACCEPTED, "doc_type": "supplier_invoice"}),
        (inputs(), HELD),
        (MESSAGE, {"scope": "elsewhere"}),
        (MESSAGE, {"scope": "in_scope", "cites": ["S-100"], "rubric": ["It names the day."]}),
        (
            inputs(doc_type=None, fields=dict.fromkeys(("supplier", "number", "date", "gross", "currency"))),
            {**ACCEPTED, "extraction": {"gross": "1.00", "number": None}, "extraction_accuracy_floor": 0.5},
        ),
    ],
)
def test_nothing_is_said_of_expectations_that_can_be_met(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert told(given, expected) == []


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"decision": "accept"}, "decision"),
        ({"decision": "perhaps"}, "decision"),
        ({"reasons": ["no_such_code"]}, "reasons"),
        ({"reasons": ["self_approval", "approval_needed"]}, "reasons"),
        ({"reasons": ["approval_needed", "approval_needed"]}, "reasons"),
        ({"reasons": "approval_needed"}, "reasons"),
        ({"approvers": ["mallory"]}, "approvers"),
        ({"approvers": ["carla", "ben"]}, "approvers"),
        ({"queued": "booking"}, "queued"),
        ({"filed": "archive"}, "filed"),
        ({"scope": "in_scope"}, "scope"),
        ({"rubric": ["It is polite."]}, "rubric"),
        ({"extraction_accuracy_floor": 0.5}, "extraction"),
        ({"extraction": {}, "extraction_accuracy_floor": 0.5}, "extraction"),
        ({"extraction": {"total": "1.00"}, "extraction_accuracy_floor": 0.5}, "extraction.total"),
    ],
)
def test_what_governance_rules_out_is_told(changed: dict[str, Any], key: str) -> None:
    assert ("expectations_fit_governance", f"expected.{key}") in told(inputs(), {**HELD, **changed})


@pytest.mark.parametrize("key", HELD)
def test_an_intake_example_expects_all_five(key: str) -> None:
    expected = {name: value for name, value in HELD.items() if name != key}
    assert ("expectations_fit_governance", f"expected.{key}") in told(inputs(), expected)


@pytest.mark.parametrize(
    ("expected", "key"),
    [
        ({"scope": "everything"}, "scope"),
        ({"cites": []}, "scope"),
        ({"scope": "elsewhere", "rubric": ["It is polite."]}, "rubric"),
        ({"scope": "elsewhere", "cites": []}, "cites"),
        ({"scope": "in_scope", "cites": ["S-999"]}, "cites"),
        ({"scope": "in_scope", "cites": ["S-100", "S-100"]}, "cites"),
        ({"scope": "in_scope", "decision": "accept"}, "decision"),
        ({"scope": "in_scope", "rubric": []}, "rubric"),
        ({"scope": "in_scope", "rubric": "It is polite."}, "rubric"),
        ({"scope": "in_scope", "rubric": ["It is polite.", " "]}, "rubric"),
        ({"scope": "in_scope", "rubric": ["It is polite.", 1]}, "rubric"),
        ({"scope": "in_scope", "rubric": ["It is polite.", "It is polite."]}, "rubric"),
    ],
)
def test_what_no_message_leads_to_is_told(expected: dict[str, Any], key: str) -> None:
    assert ("expectations_fit_the_scope", f"expected.{key}") in told(MESSAGE, expected)


def test_a_rubric_of_a_message_that_is_only_sorted_is_told() -> None:
    sorted_only = {**MESSAGE, "message": {**MESSAGE["message"], "reply": False}}
    assert told(sorted_only, {"scope": "in_scope", "rubric": ["x"]}) == [
        ("expectations_fit_the_scope", "expected.rubric")
    ]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (inputs(surprise=1), "inputs.submission.surprise"),
        (inputs({"today": "tomorrow"}), "inputs.company.today"),
        ({"company": COMPANY}, "inputs"),
        ({"submission": {}}, "inputs.company"),
        ({"company": COMPANY, "submission": "x"}, "inputs.submission"),
    ],
)
def test_inputs_that_are_none_are_told_by_their_path(given: dict[str, Any], path: str) -> None:
    assert told(given, {}) == [("inputs_can_be_read", path)]


def test_what_no_example_expects_is_told_by_name() -> None:
    found = [offence.message for offence in every_ruling_has_an_example.check(suite(inputs(), HELD))]
    assert "no example expects accept" in found
    assert "no example expects hold" not in found
    assert "no example expects self_approval" in found
    assert "no example expects approval_needed" not in found
    assert "no example expects hidden_instructions" in found
    assert len(found) == 2 + 21 + 6
