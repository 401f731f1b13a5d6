"""What a call selects is what runs, and the board says that it is partial."""

from tests.cli.agents import ADDER, ADDER_EXAMPLES, adding
from tests.cli.project import Ended, Project

WRONG = {"total": 5, "parity": "odd"}


def ids(ended: Ended) -> list[str]:
    return [row["id"] for row in ended.json["examples"]]


def test_the_selection_narrows_by_glob_tag_and_limit(project: Project) -> None:
    tagged = [adding("a-1", 1, 1, tags=["small"]), adding("a-2", 2, 2), adding("b-1", 9, 9, tags=["small"])]
    project.dataset(ADDER, tagged)
    ended = project.run("run", "adder/a-*", "--json")
    assert (ids(ended), ended.json["partial"], ended.code) == (["a-1", "a-2"], True, 0)
    assert ended.json["agents"][0]["n_examples"] == 3
    assert ids(project.run("run", "--tag", "small", "--json")) == ["a-1", "b-1"]
    assert ids(project.run("run", "adder", "--limit", "1", "--json")) == ["a-1"]
    gate = project.run("gate", "--json")
    assert gate.code == 1
    assert "the board is partial" in gate.json["reasons"]


def test_last_red_runs_what_was_red_and_a_resume_of_it_the_same(project: Project) -> None:
    project.dataset(ADDER, [*ADDER_EXAMPLES, adding("wrong", 2, 2, expected=WRONG)])
    first = project.run("run", "--json")
    assert (first.code, first.json["state"]) == (1, "RED")
    again = project.run("run", "--last", "red", "--json")
    assert ids(again) == ["wrong"]
    resumed = project.run("run", "--resume", again.json["run_id"], "--json")
    assert (ids(resumed), resumed.json["run_id"]) == (["wrong"], again.json["run_id"])
    assert project.run("run", "--last", "skip").code == 2


def test_a_whole_run_of_one_agent_is_not_partial(project: Project) -> None:
    ended = project.run("run", "adder", "--json")
    assert (ended.code, ended.json["partial"]) == (0, False)
