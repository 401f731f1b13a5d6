"""How the Auditor is graded: what is missing, surplus, milder or about other entries is not what was expected."""

import copy
from typing import Any

import pytest

from eval_pipeline.evaluator import grade, load_evaluators
from eval_pipeline.registry import agent

EVALUATORS = load_evaluators(agent("bookkeeping.agents.auditor"))
CASH = {
    "family": "accounts", "check": "negative_cash", "severity": "high", "voucher_ids": ["V-000031"],
    "flag_fields": {"account": "1020", "balance": "-15.00"},
}  # fmt: skip
WANTED = {
    "family": "accounts", "check": "negative_cash", "severity": "high", "entries": ["V-000031"],
    "flag_fields": {"balance": "-15.00"},
}  # fmt: skip


def scores(outputs: dict[str, Any], expected: dict[str, Any]) -> dict[str, float]:
    grading = grade(EVALUATORS, outputs, expected)
    assert grading.problems == ()
    return {score.key: score.value for score in grading.scores}


def changed(finding: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return copy.deepcopy(finding) | changes


def test_what_was_expected_is_green() -> None:
    assert scores({"findings": [CASH]}, {"findings": [WANTED]}) == {"findings_correct": 1.0, "flag_fields_correct": 1.0}


def test_the_order_of_findings_does_not_count() -> None:
    other = changed(CASH, voucher_ids=["V-000033"])
    wanted = changed(WANTED, entries=["V-000033"])
    assert set(scores({"findings": [other, CASH]}, {"findings": [WANTED, wanted]}).values()) == {1.0}


@pytest.mark.parametrize(
    "found",
    [
        [], [CASH, CASH], [changed(CASH, severity="medium")], [changed(CASH, voucher_ids=["V-000032"])],
        [changed(CASH, check="abnormal_balance")], [changed(CASH, family="balance")], [changed(CASH, voucher_ids=[])],
        None, "none", [None],
    ],
)  # fmt: skip
def test_anything_else_is_not_what_was_expected(found: Any) -> None:
    assert scores({"findings": found}, {"findings": [WANTED]})["findings_correct"] == 0.0


@pytest.mark.parametrize("flags", [{}, {"balance": "-15.0"}, {"balance": -15}, None])
def test_a_flag_field_with_another_value_is_told_apart(flags: Any) -> None:
    told = scores({"findings": [changed(CASH, flag_fields=flags)]}, {"findings": [WANTED]})
    assert told == {"findings_correct": 1.0, "flag_fields_correct": 0.0}


def test_one_finding_does_not_stand_for_two() -> None:
    told = scores({"findings": [CASH]}, {"findings": [WANTED, WANTED]})
    assert told == {"findings_correct": 0.0, "flag_fields_correct": 0.0}


def test_silence_where_nothing_is_expected_is_green_and_a_finding_is_not() -> None:
    assert scores({"findings": []}, {"findings": []})["findings_correct"] == 1.0
    assert scores({"findings": [CASH]}, {"findings": []})["findings_correct"] == 0.0


@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [
        ("chain_status", "broken", "intact"), ("first_broken_height", 5, 6), ("first_broken_height", None, 1),
        ("n_findings", 0, 1), ("materiality", "1000.00", "1000"),
    ],
)  # fmt: skip
def test_single_values_are_compared_exactly(key: str, right: Any, wrong: Any) -> None:
    assert scores({key: right}, {key: right}) == {f"{key}_correct": 1.0}
    assert scores({key: wrong}, {key: right}) == {f"{key}_correct": 0.0}
    assert scores({}, {key: "something"}) == {f"{key}_correct": 0.0}


def test_a_check_that_did_not_run_is_not_one_that_found_nothing() -> None:
    expected = {"severities": {"benford_first_digit": "none"}}
    assert scores({"severities": {"benford_first_digit": "none"}}, expected) == {"severities_correct": 1.0}
    assert scores({"severities": {}}, expected) == {"severities_correct": 0.0}
    assert scores({"not_run": {"a": "why"}}, {"not_run": ["a"]}) == {"not_run_correct": 1.0}
    assert scores({"not_run": {"a": "why", "b": "why"}}, {"not_run": ["a"]}) == {"not_run_correct": 0.0}
