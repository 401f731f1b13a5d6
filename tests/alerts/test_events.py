"""What a board gives rise to: fixed defects first, what is red, what was spent; of packs no word but their counts."""

from decimal import Decimal
from typing import Any

import pytest

from eval_pipeline.alerts.events import SHOWN, of_board


def line(id: str, verdict: str, agent: str = "clerk", xpass: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"agent": agent, "id": id, "verdict": verdict, "reason": f"why {id}", "xpass": list(xpass)}


def board(*examples: dict[str, Any], state: str = "RED", cost: str = "0") -> dict[str, Any]:
    row = {"agent": "clerk", "state": state, "usage": {"cost_usd": cost}, "problems": []}
    return {"run_id": "r1", "state": state, "agents": [row], "examples": list(examples)}


def kinds(value: dict[str, Any], budget: Decimal | None = None) -> list[str]:
    return [event.kind for event in of_board(value, budget, None)]


def test_a_green_board_says_nothing() -> None:
    assert kinds(board(line("a", "PASS"), state="GREEN")) == []
    assert kinds(board(line("a", "SKIP"), state="UNPROVEN")) == []


def test_fixed_defects_come_first_also_beside_a_failure() -> None:
    value = board(line("a", "FAIL", xpass=("decision_correct",)), line("b", "XPASS", xpass=("queued_correct",)))
    first, second = of_board(value, None, "2026-11-30")
    assert first.kind == "xpass"
    assert first.title == "2 recorded defects appear fixed: take their markers away"
    assert first.body == "clerk/a: decision_correct\nclerk/b: queued_correct\nrun r1"
    assert (second.kind, second.title) == ("red", "the board is RED: clerk; red since 2026-11-30")
    assert second.body == "[FAIL] clerk/a: why a\nrun r1"


def test_a_board_that_is_red_by_a_problem_alone_says_the_problem() -> None:
    """H56: a failed check fails no run, so what it found has an alert of its own."""
    value = board(line("a", "PASS"))
    value["agents"][0]["problems"] = ["judge_refuses_the_control: it let a wrong reply pass"]
    (event,) = of_board(value, None, None)
    assert "clerk: judge_refuses_the_control" in event.body


def test_many_are_counted_and_not_listed() -> None:
    (event,) = of_board(board(*(line(f"e{n}", "FAIL") for n in range(SHOWN + 5))), None, None)
    assert event.body.count("[FAIL]") == SHOWN
    assert "and 5 more" in event.body


def test_of_a_pack_only_its_name_and_counts_are_told() -> None:
    secret = line("invoice-of-Mrs-Miller", "FAIL", agent="clerk@customers", xpass=("k",))
    for event in of_board(board(secret, secret), None, None):
        assert "Miller" not in event.title + event.body
        assert "clerk@customers: 2 in this pack" in event.body


@pytest.mark.parametrize(("budget", "told"), [(None, []), ("5.00", []), ("4.99", ["budget"]), ("0", ["budget"])])
def test_only_more_than_the_budget_is_told(budget: str | None, told: list[str]) -> None:
    value = board(line("a", "PASS"), state="GREEN", cost="5.00")
    assert kinds(value, Decimal(budget) if budget is not None else None) == told


def test_what_a_resume_leaves_as_it_was_is_the_same_event_and_what_it_changes_another() -> None:
    first = board(line("a", "FAIL"), line("b", "XPASS", xpass=("queued_correct",)))
    mended = board(line("a", "PASS"), line("b", "XPASS", xpass=("queued_correct",)))
    keys = [{event.kind: event.key for event in of_board(value, None, None)} for value in (first, first, mended)]
    assert keys[0] == keys[1]
    assert keys[0]["xpass"] == keys[2]["xpass"]
    assert keys[0]["red"] != keys[2]["red"]
    assert len(set(keys[0].values())) == 2
