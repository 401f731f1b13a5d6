"""A board can be not-green: each way is planted in a copy of the project and seen through the command line."""

import json
import signal
import time

import psycopg
import pytest

from tests.cli.agents import ADDER, ADDER_EXAMPLES, adding, register
from tests.cli.project import Project

EVALUATORS = "eval_pipeline/evaluators/adder.py"
GRAPH = "bookkeeping/agents/adder/graph.py"
TARGET = "eval_pipeline/targets/adder.py"
MARKER = {"keys": ["total_correct"], "reason": "carries are lost"}


def test_the_honest_board_is_green(project: Project) -> None:
    ended = project.run("run", "--json")
    assert ended.code == 0, ended.err
    board = ended.json
    assert board["state"] == "GREEN"
    assert board["partial"] is False
    (row,) = board["agents"]
    assert (row["n_graded"], row["n_examples"], row["pass_rate"]) == (3, 3, 1.0)
    assert row["verdicts"] == {"PASS": 3, "FAIL": 0, "ERROR": 0, "XFAIL": 0, "XPASS": 0, "SKIP": 0}
    assert row["score_means"] == {"parity_correct": 1.0, "total_correct": 1.0}
    assert [item["id"] for item in board["examples"]] == ["two-and-two", "one-and-two", "minus-and-one"]
    gate = project.run("gate")
    assert gate.code == 0, gate.out


def test_an_ungraded_key_refuses_the_dataset_and_spends_nothing(project: Project) -> None:
    """H12: an expectation that nobody reads is told before anything runs."""
    examples = [*ADDER_EXAMPLES, adding("four", 2, 2, expected={"total": 4, "colour": "red"})]
    project.dataset(ADDER, examples)
    checked = project.run("check", "--json")
    assert checked.code == 1
    (offence,) = checked.json["offences"]
    assert (offence["rule"], offence["example"], offence["key"]) == ("every_key_is_graded", "four", "colour")
    assert offence["file"].endswith("datasets/adder/examples.json")
    ended = project.run("run", "--json")
    assert ended.code == 1
    assert {row["verdict"] for row in ended.json["examples"]} == {"ERROR"}
    assert "every_key_is_graded" in ended.verdict("two-and-two")["reason"]
    assert ended.json["agents"][0]["n_graded"] == 0


def test_an_agent_in_skipped_agents_is_red(project: Project) -> None:
    project.edit(
        "eval_pipeline/registry.py",
        "SKIPPED_AGENTS: frozenset[str] = frozenset()",
        'SKIPPED_AGENTS: frozenset[str] = frozenset({"adder"})',
    )
    assert project.run("check").code == 1
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    assert "SKIPPED_AGENTS" in ended.verdict("two-and-two")["reason"]


def test_an_agent_that_is_not_registered_is_red(project: Project) -> None:
    project.write("bookkeeping/agents/forgotten/__init__.py", "")
    checked = project.run("check")
    assert checked.code == 1
    assert "every_agent_is_registered" in checked.out
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    row = next(row for row in ended.json["agents"] if row["agent"] == "forgotten")
    assert (row["state"], row["n_examples"]) == ("RED", 0)


def test_an_agent_package_that_is_not_there_is_a_skip_and_fatal_under_strict(project: Project) -> None:
    register(project, "bookkeeping.agents.adder", "bookkeeping.agents.planner")
    project.dataset("planner", [{"id": "plan", "inputs": {}, "expected": {"plan": "none"}}])
    assert project.run("check").code == 0
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (0, "UNPROVEN")
    assert ended.verdict("plan")["verdict"] == "SKIP"
    assert ended.verdict("plan")["reason"] == "package bookkeeping.agents.planner is not installed"
    assert ended.verdict("two-and-two")["verdict"] == "PASS"
    assert project.run("run", "--strict").code == 1
    assert project.run("gate").code == 1


def test_an_agent_that_cannot_be_imported_for_another_reason_is_an_error(project: Project) -> None:
    project.write("bookkeeping/agents/adder/__init__.py", "import a_module_that_is_not_there\n")
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    assert "a_module_that_is_not_there" in ended.verdict("two-and-two")["reason"]


def test_a_target_that_raises_is_an_error_and_no_evaluator_runs(project: Project) -> None:
    project.edit(GRAPH, 'return {"total": state["left"] + state["right"]}', 'raise RuntimeError("no carry left")')
    project.edit(EVALUATORS, 'yield Score("total_correct"', 'print("EVALUATED"); yield Score("total_correct"')
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    assert ended.verdict("two-and-two")["reason"] == "raised: RuntimeError: no carry left"
    assert "EVALUATED" not in ended.out + ended.err
    row = ended.json["agents"][0]
    assert (row["n_graded"], row["pass_rate"]) == (0, 0.0)


def test_a_target_that_never_ends_is_an_error_and_its_siblings_pass(project: Project) -> None:
    project.edit(
        GRAPH,
        'return {"total": state["left"] + state["right"]}',
        'import time\n    while state["left"] == 1:\n        time.sleep(0.01)\n'
        '    return {"total": state["left"] + state["right"]}',
    )
    ended = project.run("run", "--json", EVAL_TIMEOUT_S="1")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    assert ended.verdict("one-and-two")["verdict"] == "ERROR"
    assert "timeout" in ended.verdict("one-and-two")["reason"]
    assert ended.verdict("minus-and-one")["verdict"] == "PASS"


@pytest.mark.parametrize(
    ("value", "told"),
    [("1 / 0", "ZeroDivisionError"), ('float("nan")', "nan"), ("1.5", "1.5"), ('"high"', "'high'"), ("True", "True")],
)
def test_an_evaluator_that_raises_or_scores_what_is_no_share_is_an_error(
    project: Project, value: str, told: str
) -> None:
    project.edit(EVALUATORS, 'exact(outputs.get("total"), expected["total"])', value)
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    assert ended.verdict("two-and-two")["verdict"] == "ERROR"
    assert told in ended.verdict("two-and-two")["reason"]


def test_an_example_that_nobody_grades_is_red(project: Project) -> None:
    project.dataset(ADDER, [*ADDER_EXAMPLES, adding("ungraded", 2, 2, expected={})])
    assert "every_example_is_graded" in project.run("check").out
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")


def wrong_sum(project: Project) -> None:
    project.edit(GRAPH, 'return {"total": state["left"] + state["right"]}', 'return {"total": 7}')


def test_a_marker_that_holds_is_xfail_and_not_red(project: Project) -> None:
    wrong_sum(project)
    project.dataset(ADDER, [adding("odd-sum", 1, 2, known_defects=[MARKER]), adding("seven", 3, 4)])
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (0, "GREEN")
    line = ended.verdict("odd-sum")
    assert (line["verdict"], line["excused"], line["reason"]) == ("XFAIL", ["total_correct"], "carries are lost")
    assert ended.json["agents"][0]["pass_rate"] == 0.5


def test_a_marker_whose_defect_is_fixed_is_xpass_and_red_until_it_is_gone(project: Project) -> None:
    """H46: recorded defects are compared with what failed in this run, not counted."""
    project.dataset(ADDER, [adding("odd-sum", 1, 2, known_defects=[MARKER])])
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    assert ended.verdict("odd-sum")["verdict"] == "XPASS"
    assert "appears fixed: total_correct" in ended.verdict("odd-sum")["reason"]
    assert ended.json["agents"][0]["n_xpass_keys"] == 1
    project.dataset(ADDER, [adding("odd-sum", 1, 2)])
    assert project.run("run").code == 0


def test_a_marker_outside_its_situation_does_not_excuse(project: Project) -> None:
    wrong_sum(project)
    marker = {**MARKER, "only_when": {"parity": "even"}}
    project.dataset(ADDER, [adding("odd-sum", 1, 2, known_defects=[marker])])
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    assert (ended.verdict("odd-sum")["verdict"], ended.verdict("odd-sum")["failed"]) == ("FAIL", ["total_correct"])


def test_a_results_database_that_does_not_answer_ends_with_2(project: Project) -> None:
    ended = project.run("run", EVAL_DATABASE_URL="postgresql://user:hunter2@127.0.0.1:1/results")
    assert ended.code == 2
    assert "no Postgres reachable at 127.0.0.1:1" in ended.err
    assert "hunter2" not in ended.err + ended.out
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "nobody"), "there is no agent 'nobody'"),
        (("run", "adder/zzz*"), "matches no example"),
        (("run", "--tag", "unheard-of"), "matches no example"),
        (("run", "--limit", "0"), "--limit 0"),
        (("run", "--trials", "0"), "--trials 0"),
        (("run", "--resume", "12"), "there is no run 12"),
        (("board", "12"), "there is no run 12"),
        (("gate", "12"), "there is no run 12"),
        (("trace", "adder"), "AGENT/EXAMPLE"),
        (("run", "--frobnicate"), "No such option"),
    ],
)
def test_a_call_that_is_wrong_ends_with_2_and_one_line(project: Project, arguments: tuple[str, ...], told: str) -> None:
    ended = project.run(*arguments)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err


def test_an_empty_dataset_is_an_error(project: Project) -> None:
    project.dataset(ADDER, [])
    for command in ("run", "check"):
        ended = project.run(command)
        assert ended.code == 2
        assert "examples.json" in ended.err


def test_ctrl_c_keeps_what_is_finished_and_ends_not_zero(project: Project) -> None:
    project.edit(
        GRAPH,
        'return {"total": state["left"] + state["right"]}',
        'import time\n    time.sleep(0.3)\n    return {"total": state["left"] + state["right"]}',
    )
    project.dataset(ADDER, [adding(f"sum-{n}", n, n) for n in range(200)])
    running = project.start("run", "--json", EVAL_CONCURRENCY="2")
    url = project.environment["EVAL_DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        deadline = time.monotonic() + 60
        while connection.execute("select count(*) from results.outcomes").fetchone() < (4,):
            assert time.monotonic() < deadline, "no outcome was stored within a minute"
            time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 1, err
    board = json.loads(out)
    assert board["partial"] is True
    (row,) = board["agents"]
    assert 4 <= row["n_graded"] < 200
    assert row["verdicts"]["PASS"] == row["n_graded"]
    assert project.run("gate").code == 1
    resumed = project.run("run", "--resume", board["run_id"], "--json", EVAL_CONCURRENCY="64")
    assert resumed.code == 0, resumed.err
    assert resumed.json["run_id"] == board["run_id"]
    assert (resumed.json["partial"], resumed.json["agents"][0]["n_graded"]) == (False, 200)
