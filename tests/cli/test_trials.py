"""``--trials K``: the worst trial is the verdict, and the board says how often each example passed."""

from tests.cli.agents import ADDER, ADDER_EXAMPLES, adding
from tests.cli.project import Project

GRAPH = "bookkeeping/agents/adder/graph.py"
SUM = 'return {"total": state["left"] + state["right"]}'
NOW_AND_THEN = """
    from pathlib import Path
    seen = Path(__file__).with_name(f"seen-{state['left']}.txt")
    times = len(seen.read_text()) if seen.exists() else 0
    seen.write_text("x" * (times + 1))
    return {"total": state["left"] + state["right"] + (state["left"] == 1 and times == 1)}
"""


def flaky(project: Project) -> None:
    """The second time that the adder is asked for 1 and 2 it is wrong."""
    project.edit(GRAPH, f"    {SUM}", NOW_AND_THEN.strip("\n"))


def test_an_example_that_fails_now_and_then_is_red_and_named_as_flaky(project: Project) -> None:
    flaky(project)
    ended = project.run("run", "--trials", "3", "--json", EVAL_CONCURRENCY="1")
    assert (ended.code, ended.json["state"], ended.json["trials"]) == (1, "RED", 3)
    line = ended.verdict("one-and-two")
    assert (line["verdict"], line["n_passed"], line["n_trials"]) == ("FAIL", 2, 3)
    assert line["scores"] == {"total_correct": 0.0, "parity_correct": 0.0}
    share = ended.json["agents"][0]["trials"]
    assert (share["passed"], share["of"], share["flaky"]) == (8, 9, {"one-and-two": 2})
    # Wilson (1927) for 8 of 9 by hand: middle 0.7726, half width 0.2076
    assert [round(bound, 3) for bound in share["interval"]] == [0.565, 0.980]
    text = project.run("board").out
    assert "[FAIL] one-and-two" in text
    assert "(2 of 3 trials passed)" in text
    assert "adder: 8 of 9 trials passed (0.565 to 0.980); flaky: one-and-two (2 of 3)" in text


def test_steady_examples_are_not_flaky(project: Project) -> None:
    ended = project.run("run", "--trials", "2", "--json")
    assert ended.code == 0
    share = ended.json["agents"][0]["trials"]
    assert (share["passed"], share["of"], share["flaky"]) == (6, 6, {})


def test_one_trial_has_no_share_of_its_own(project: Project) -> None:
    assert project.run("run", "--json").json["agents"][0]["trials"] is None


def test_a_deterministic_marker_that_passed_in_some_trials_is_told_to_be_intermittent(project: Project) -> None:
    flaky(project)
    marker = {"keys": ["total_correct", "parity_correct"], "reason": "wrong the second time"}
    project.dataset(ADDER, [adding("one-and-two", 1, 2, known_defects=[marker]), *ADDER_EXAMPLES[:1]])
    ended = project.run("run", "--trials", "3", "--json", EVAL_CONCURRENCY="1")
    line = ended.verdict("one-and-two")
    assert (line["verdict"], ended.code) == ("XFAIL", 0)
    assert "total_correct passed in some trials: its known defect is intermittent" in line["hints"]
