"""Tables and numbers of the UI: what is red is told first and briefly, and nothing is plotted that is no number."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from eval_pipeline.board import AgentBoard, Board, ExampleBoard, State, board_state
from eval_pipeline.dataset import load_dataset
from eval_pipeline.deployment import metadata
from eval_pipeline.rules import Offence
from eval_pipeline.verdict import Verdict
from tests.build import AGENT, example_json, write_dataset


def line(id: str, verdict: Verdict, reason: str = "why", agent: str = "adder") -> ExampleBoard:
    return ExampleBoard(agent, id, verdict, reason, {}, (), (), ())


def row(agent: str = "adder", state: State = State.GREEN, **changes: Any) -> AgentBoard:
    verdicts = {verdict.value: 0 for verdict in Verdict} | changes.pop("verdicts", {})
    usage = {"input_tokens": 0, "output_tokens": 0, "cost_usd": changes.pop("cost", "0")}
    seconds = {"p50": None, "p95": None}
    given = {"n_examples": 3, "n_graded": 3, "pass_rate": None} | changes
    return AgentBoard(
        agent, state, "d1", given.pop("n_examples"), given.pop("n_graded"), verdicts, 0, given.pop("pass_rate"),
        (0.0, 1.0), {}, {}, 0, usage, seconds, **given,
    )  # fmt: skip


def board(*rows: AgentBoard, examples: tuple[ExampleBoard, ...] = ()) -> Board:
    made = datetime(2026, 12, 1, 2, 30, tzinfo=UTC)
    return Board("r1", board_state([item.state for item in rows]), False, None, made, made, rows, examples)


def cells(table: dg.TableMetadataValue) -> list[tuple[str, ...]]:
    """The rows, with plain spaces."""
    return [tuple(str(cell).replace("\u00a0", " ") for cell in record.data.values()) for record in table.records]


def test_fixed_defects_stand_first_and_what_is_not_red_is_left_out() -> None:
    examples = tuple(line(verdict.value.lower(), verdict) for verdict in Verdict)
    assert [found[:2] for found in cells(metadata.red_examples(board(examples=examples)))] == [
        ("XPASS", "adder/xpass"),
        ("ERROR", "adder/error"),
        ("FAIL", "adder/fail"),
    ]


def test_examples_of_an_agent_that_are_red_alike_share_a_row() -> None:
    examples = (
        *(line(f"e{n}", Verdict.ERROR, "refused") for n in range(3)),
        line("other-reason", Verdict.ERROR, "timed out"),
        line("other-agent", Verdict.ERROR, "refused", agent="namer"),
    )
    assert cells(metadata.red_examples(board(examples=examples))) == [
        ("ERROR", "adder/e0 and 2 more", "refused"),
        ("ERROR", "adder/other-reason", "timed out"),
        ("ERROR", "namer/other-agent", "refused"),
    ]


def test_a_verdict_that_was_another_before_says_so() -> None:
    examples = tuple(line(name, Verdict.FAIL, name) for name in ("new", "old", "unknown"))
    before = {("adder", "new"): "PASS", ("adder", "old"): "FAIL"}
    verdicts = [found[0] for found in cells(metadata.red_examples(board(examples=examples), before=before))]
    assert verdicts == ["FAIL (was PASS)", "FAIL", "FAIL"]


def test_the_table_of_one_agent_has_its_own_examples_only() -> None:
    examples = (line("a", Verdict.FAIL), line("b", Verdict.FAIL, agent="namer"))
    assert [found[1] for found in cells(metadata.red_examples(board(examples=examples), "namer"))] == ["namer/b"]


def test_a_long_reason_is_cut() -> None:
    (found,) = cells(metadata.red_examples(board(examples=(line("a", Verdict.FAIL, "x" * 301),))))
    assert found[2] == "x" * 300 + "…"


def test_the_board_has_a_row_for_each_agent_with_the_verdicts_that_there_are() -> None:
    rows = (
        row(state=State.RED, verdicts={"PASS": 2, "FAIL": 1}, pass_rate=2 / 3),
        row("namer", State.UNPROVEN, n_graded=0, verdicts={"SKIP": 3}),
        row("adder@bank", counts=False, verdicts={"PASS": 3}, pass_rate=1.0),
    )
    assert cells(metadata.board_table(board(*rows))) == [
        ("adder", "RED", "3 of 3", "0.667", "2 PASS, 1 FAIL"),
        ("namer", "UNPROVEN", "0 of 3", "", "3 SKIP"),
        ("adder@bank (apart)", "GREEN", "3 of 3", "1.000", "3 PASS"),
    ]


def test_problems_and_foreign_endpoints_are_told_by_agent() -> None:
    rows = (row(problems=("did not report",)), row("namer", endpoints=("http://127.0.0.1:1",)))
    assert cells(metadata.problem_table(board(*rows))) == [
        ("adder", "did not report"),
        ("namer", "the model answered at http://127.0.0.1:1, which is not the provider's own endpoint"),
    ]
    assert cells(metadata.problem_table(board(row()))) == []


def test_the_numbers_of_the_board_add_up_what_counts() -> None:
    rows = (
        row(verdicts={"PASS": 2, "FAIL": 1}, pass_rate=2 / 3, cost="0.10"),
        row("namer", n_graded=1, verdicts={"XPASS": 1, "SKIP": 2}, pass_rate=0.0, cost="0.20"),
        row("adder@bank", counts=False, verdicts={"ERROR": 3}, pass_rate=0.0, cost="9"),
    )
    assert metadata.board_numbers(board(*rows)) == {
        "n_red": 2,
        "n_pass": 2,
        "n_fail": 1,
        "n_error": 0,
        "n_xfail": 0,
        "n_xpass": 1,
        "n_skip": 2,
        "n_graded": 4,
        "cost_usd": 0.3,
        "pass_adder": 0.666667,
        "pass_namer": 0.0,
    }


def test_a_dataset_is_told_by_its_files_and_its_recorded_defects(tmp_path: Path) -> None:
    marked = example_json("b", known_defects=[{"keys": ["answer_correct"], "reason": "known"}])
    write_dataset(tmp_path, example_json("a"), marked, name="one.json")
    write_dataset(tmp_path, example_json("c"), name="two.json")
    told = metadata.about_dataset(load_dataset(tmp_path, AGENT))
    assert (told["n_examples"], told["n_known_defects"]) == (3, 1)
    assert cells(told["files"]) == [("one.json", "2"), ("two.json", "1")]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3, 3), (1 / 3, 0.333333), (Decimal("0.5"), 0.5), (None, None), (float("nan"), None), (float("inf"), None)],
)
def test_only_numbers_that_can_be_plotted_are_shown(value: object, shown: object) -> None:
    assert metadata.numbers({"n": value}) == ({} if shown is None else {"n": shown})


def test_columns_of_offenders_that_are_empty_throughout_are_left_out() -> None:
    about_examples = metadata.offenders([Offence("r", "adder", "bad", example="a"), Offence("r", "adder", "worse")])
    assert about_examples["n_offenders"] == 2
    assert [column.name for column in about_examples["offenders"].schema.columns] == ["example", "what"]
    assert cells(about_examples["offenders"]) == [("a", "bad"), ("", "worse")]
    about_files = metadata.offenders([Offence("r", "adder", "bad", file=Path("a.json"), key="k")])
    assert [column.name for column in about_files["offenders"].schema.columns] == ["key", "what", "file"]
    assert [column.name for column in metadata.offenders([])["offenders"].schema.columns] == ["what"]
