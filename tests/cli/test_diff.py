"""``diff``: what changed between two runs, in words and as JSON; 1 when something is newly red."""

from tests.cli.agents import ADDER, ADDER_EXAMPLES, adding
from tests.cli.project import Project

GRAPH = "bookkeeping/agents/adder/graph.py"
SUM = 'return {"total": state["left"] + state["right"]}'


def run(project: Project, *arguments: str) -> str:
    ended = project.run("run", *arguments, "--json")
    return str(ended.json["run_id"])


def test_what_is_newly_red_and_newly_green(project: Project) -> None:
    project.edit(GRAPH, SUM, 'return {"total": state["left"] + state["right"] + (state["left"] == 2)}')
    before = run(project)
    project.edit(GRAPH, '(state["left"] == 2)', '(state["left"] == 1)')
    after = run(project)
    ended = project.run("diff", before, after)
    assert ended.code == 1
    assert "newly red: adder/one-and-two  PASS -> FAIL" in ended.out
    assert "total_correct: 1 -> 0" in ended.out
    assert "newly green: adder/two-and-two  FAIL -> PASS" in ended.out
    assert "1 newly red, 1 newly green, 0 changed of 3 graded in both; exact McNemar p = 1" in ended.out
    value = project.run("diff", before, "--json").json
    assert [change["name"] for change in value["newly_red"]] == ["adder/one-and-two"]
    assert (value["n_both"], value["p_value"], value["not_comparable"]) == (3, 1.0, [])


def test_nothing_newly_red_ends_with_0(project: Project) -> None:
    before, after = run(project), run(project)
    ended = project.run("diff", before, after)
    assert ended.code == 0
    assert "0 newly red, 0 newly green, 0 changed of 3 graded in both" in ended.out


def test_runs_of_another_dataset_are_refused_with_a_sentence_unless_anyway(project: Project) -> None:
    before = run(project)
    project.dataset(ADDER, [*ADDER_EXAMPLES, adding("wrong", 1, 1, expected={"total": 3, "parity": "odd"})])
    after = run(project)
    ended = project.run("diff", before, after)
    assert ended.code == 2
    assert "the runs are not comparable: the datasets of adder differ (--anyway compares them)" in ended.err
    assert "Traceback" not in ended.err
    anyway = project.run("diff", before, after, "--anyway")
    assert anyway.code == 1
    assert "not comparable: the datasets of adder differ" in anyway.out
    assert "newly red: adder/wrong" in anyway.out


def test_runs_of_other_numbers_of_trials_are_refused(project: Project) -> None:
    before, after = run(project), run(project, "--trials", "2")
    ended = project.run("diff", before, after)
    assert ended.code == 2
    assert "the numbers of trials differ: 1 and 2" in ended.err
