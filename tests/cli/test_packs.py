"""Packs: datasets outside the repo, graded and shown apart."""

import json

from tests.cli.agents import adding
from tests.cli.project import Project

WRONG = {"total": 5, "parity": "odd"}


def pack(project: Project, *examples: dict, within: str = ".") -> str:
    folder = project.folder.parent / within / "customers"
    (folder / "adder").mkdir(parents=True, exist_ok=True)
    text = json.dumps({"agent": "adder", "examples": list(examples)})
    (folder / "adder" / "real.json").write_text(text, "utf-8")
    return str(folder)


def test_a_pack_is_shown_apart_and_counts_only_when_settings_say_so(project: Project) -> None:
    folder = pack(project, adding("real-1", 4, 4), adding("real-2", 2, 2, expected=WRONG))
    ended = project.run("run", "--pack", folder, "--json")
    assert (ended.code, ended.json["state"]) == (0, "GREEN")
    rows = {row["agent"]: row for row in ended.json["agents"]}
    assert (rows["adder"]["state"], rows["adder"]["counts"]) == ("GREEN", True)
    assert (rows["adder@customers"]["state"], rows["adder@customers"]["counts"]) == ("RED", False)
    assert project.run("gate").code == 0
    counted = project.run("run", "--pack", folder, "--json", EVAL_PACKS_COUNT="1")
    assert (counted.code, counted.json["state"]) == (1, "RED")
    assert project.run("score", "--json").json["agents"][1]["n_graded"] == 2


def test_an_overlay_in_the_repo_marks_examples_of_a_pack(project: Project) -> None:
    folder = pack(project, adding("real-1", 4, 4), adding("real-2", 2, 2, expected=WRONG))
    marker = {"keys": ["total_correct", "parity_correct"], "reason": "the document contradicts itself"}
    overlay = {"pack": "customers", "known_defects": {"adder": {"real-2": [marker]}}}
    project.write("datasets/packs/customers.json", json.dumps(overlay))
    ended = project.run("run", "--pack", folder, "--json", EVAL_PACKS_COUNT="1")
    assert (ended.code, ended.verdict("real-2")["verdict"]) == (0, "XFAIL")
    overlay["known_defects"]["adder"]["real-9"] = [marker]
    project.write("datasets/packs/customers.json", json.dumps(overlay))
    wrong = project.run("run", "--pack", folder)
    assert wrong.code == 2
    assert "real-9" in wrong.err


def test_a_pack_that_is_not_there_is_a_skip_with_that_reason(project: Project) -> None:
    ended = project.run("run", "--json", EVAL_PACKS="/nowhere/customers", EVAL_PACKS_COUNT="1")
    assert (ended.code, ended.json["state"]) == (0, "UNPROVEN")
    assert ended.verdict("customers")["reason"] == "the pack customers is not there: /nowhere/customers"
    assert project.run("run", "--strict", EVAL_PACKS="/nowhere/customers", EVAL_PACKS_COUNT="1").code == 1


def test_two_packs_of_one_name_are_refused(project: Project) -> None:
    folders = [pack(project, adding("real-1", 4, 4), within=within) for within in ("here", "there")]
    ended = project.run("run", "--pack", folders[0], "--pack", folders[1])
    assert ended.code == 2
    assert "two packs are called 'customers'" in ended.err


def test_a_pack_without_a_registered_agent_is_refused(project: Project) -> None:
    (project.folder.parent / "customers" / "ader").mkdir(parents=True)
    ended = project.run("run", "--pack", str(project.folder.parent / "customers"))
    assert ended.code == 2
    assert "the pack has no folder of a registered agent" in ended.err


def test_a_pack_that_counts_must_be_on_the_board_and_current_to_be_released(project: Project) -> None:
    counts = {"EVAL_PACKS": pack(project, adding("real-1", 4, 4)), "EVAL_PACKS_COUNT": "1"}
    assert project.run("run", EVAL_PACKS_COUNT="1").code == 0
    assert "adder@customers is not on the board" in project.run("gate", **counts).out
    assert project.run("run", **counts).code == 0
    assert project.run("gate", **counts).code == 0
    pack(project, adding("real-1", 4, 5))
    for environment in (counts, {"EVAL_PACKS_COUNT": "1"}):
        ended = project.run("gate", **environment)
        assert ended.code == 1
        assert "adder@customers: the dataset has changed since the run" in ended.out
    assert project.run("gate").code == 0


def test_the_trace_of_an_example_of_a_pack_shows_the_inputs_of_the_pack(project: Project) -> None:
    folder = pack(project, adding("two-and-two", 40, 2))
    assert project.run("run", "--pack", folder).code == 0
    assert 'inputs   {"left": 40, "right": 2}' in project.run("trace", "adder@customers/two-and-two").out
    assert 'inputs   {"left": 2, "right": 2}' in project.run("trace", "adder/two-and-two").out
