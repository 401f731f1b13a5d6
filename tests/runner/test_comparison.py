"""Two boards compared: what is newly red, newly green and moved, and when the two may not be compared at all."""

from datetime import UTC, datetime
from typing import Any

import pytest

from eval_pipeline.board import AgentBoard, Board, ExampleBoard, State
from eval_pipeline.comparison import Change, compare
from eval_pipeline.verdict import Verdict

PASS, FAIL, ERROR, XFAIL, XPASS, SKIP = (Verdict[name] for name in ("PASS", "FAIL", "ERROR", "XFAIL", "XPASS", "SKIP"))


def line(name: str, verdict: Verdict = PASS, score: float | None = None, **more: Any) -> ExampleBoard:
    value = {PASS: 1.0, FAIL: 0.0}.get(verdict) if score is None else score
    scores = {} if value is None else {"answer_correct": value}
    return ExampleBoard("sampler", name, verdict, "", scores, (), (), (), **more)


def board(*lines: ExampleBoard, digest: str = "d1", **more: Any) -> Board:
    row = AgentBoard("sampler", State.GREEN, digest, 9, 9, {}, 0, None, (0, 1), {}, {}, 0, {}, {})
    given = {"model": None, "started_at": datetime(2026, 12, 1, tzinfo=UTC), "finished_at": None, "partial": False}
    return Board("run-1", State.GREEN, agents=(row,), examples=lines, **given | more)


def names(changes: tuple[Change, ...]) -> list[str]:
    return [change.name.removeprefix("sampler/") for change in changes]


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        (PASS, FAIL, "newly_red"),
        (PASS, ERROR, "newly_red"),
        (XFAIL, XPASS, "newly_red"),
        (SKIP, FAIL, "newly_red"),
        (FAIL, PASS, "newly_green"),
        (ERROR, XFAIL, "newly_green"),
        (PASS, XFAIL, "changed"),
        (FAIL, ERROR, "changed"),
    ],
)
def test_each_change_of_a_verdict_has_its_place(before: Verdict, after: Verdict, where: str) -> None:
    result = compare(board(line("a", before), line("b")), board(line("a", after), line("b")))
    found = {name: names(getattr(result, name)) for name in ("newly_red", "newly_green", "changed")}
    assert found == {name: ["a"] if name == where else [] for name in found}


def test_a_red_example_that_is_new_is_newly_red_and_one_that_is_gone_is_told() -> None:
    result = compare(board(line("old"), line("both")), board(line("both"), line("new", FAIL)))
    assert (names(result.newly_red), result.only_before, result.only_after) == (
        ["new"],
        ("sampler/old",),
        ("sampler/new",),
    )
    assert result.n_both == 1


def test_a_score_that_moves_is_told_although_the_verdict_stays() -> None:
    result = compare(board(line("a", FAIL, 0.25)), board(line("a", FAIL, 0.5)))
    (change,) = result.changed
    assert change.scores == (("answer_correct", 0.25, 0.5),)


def test_a_score_that_appears_or_goes_is_told() -> None:
    result = compare(board(line("a", ERROR)), board(line("a", FAIL)))
    assert result.changed[0].scores == (("answer_correct", None, 0.0),)


def test_nothing_changes_between_a_run_and_itself() -> None:
    same = board(line("a"), line("b", FAIL), line("c", SKIP))
    result = compare(same, same)
    assert (result.newly_red, result.newly_green, result.changed, result.p_value) == ((), (), (), 1.0)
    assert result.not_comparable == ()


def test_the_test_is_paired() -> None:
    """H31: the same examples in both runs. One pass lost, eight won: 2 * (1 + 9) / 2**9 = 0.0390625."""
    before = [line("lost"), *(line(f"won-{n}", FAIL) for n in range(8)), *(line(f"same-{n}") for n in range(50))]
    after = [line("lost", FAIL), *(line(f"won-{n}") for n in range(8)), *(line(f"same-{n}") for n in range(50))]
    assert compare(board(*before), board(*after)).p_value == 0.0390625


def test_an_excused_failure_is_no_pass_in_the_test() -> None:
    before = [line(f"e-{n}") for n in range(6)]
    after = [line(f"e-{n}", XFAIL) for n in range(6)]
    assert compare(board(*before), board(*after)).p_value == 2 / 2**6


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (board(line("a"), digest="d2"), "the datasets of sampler differ"),
        (board(line("a"), model="small"), "the models differ: none and small"),
        (board(line("a"), trials=3), "the numbers of trials differ: 1 and 3"),
    ],
)
def test_runs_of_different_things_are_not_comparable(other: Board, told: str) -> None:
    """H25: two models are two results."""
    assert compare(board(line("a")), other).not_comparable == (told,)


@pytest.mark.parametrize("both", [False, True])
def test_an_outage_of_the_judge_in_one_run_or_on_other_examples_refuses_the_comparison(both: bool) -> None:
    """H08: an outage in one of two runs."""
    out = line("a", FAIL, unanswered=("reply_meets_rubric",))
    before = board(line("a"), line("b", FAIL, unanswered=("reply_meets_rubric",)) if both else line("b"))
    (told,) = compare(before, board(out, line("b"))).not_comparable
    assert told == "the judge of sampler did not answer on the same examples in both runs"


def test_an_outage_on_the_same_examples_in_both_runs_is_comparable() -> None:
    out = line("a", FAIL, unanswered=("reply_meets_rubric",))
    assert compare(board(out), board(out)).not_comparable == ()
