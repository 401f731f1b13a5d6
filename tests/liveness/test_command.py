"""A dead expectation and an evaluator that always returns 1.0 are red in ``run``, and named by ``prove``."""

import pytest

from tests.cli.agents import ADDER, adding
from tests.cli.conftest import bare, project, templates
from tests.cli.project import Project

__all__ = ["bare", "project", "templates"]

EVALUATORS = "eval_pipeline/evaluators/adder.py"
COMPARISON = 'exact(outputs.get("total"), expected["total"])'


def test_an_honest_run_is_proved(project: Project) -> None:
    assert project.run("run").code == 0
    proved = project.run("prove", "--json")
    assert proved.code == 0, proved.out + proved.err
    (adder,) = proved.json["agents"]
    assert (adder["n_examples"], adder["n_leaves"], adder["n_keys"], adder["offences"]) == (3, 6, 2, [])


def test_an_evaluator_that_always_returns_one_turns_the_board_red(project: Project) -> None:
    project.edit(EVALUATORS, COMPARISON, "1.0")
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    (row,) = ended.json["agents"]
    assert row["verdicts"]["PASS"] == 3
    assert row["problems"][0].startswith("every_expectation_is_live: adder/two-and-two/expected.total: no change")
    assert project.run("gate").code == 1
    proved = project.run("prove")
    assert proved.code == 1
    assert "every_score_can_fail: adder/total_correct: evaluator total scores 1.0 whatever" in proved.out
    assert "adder/one-and-two/expected.total: no change of this expectation moves a score" in proved.out


@pytest.fixture
def noted(project: Project) -> Project:
    """The adder with an expectation in one example that an evaluator declares and never looks at."""
    expected = {"total": 4, "parity": "even", "note": "carry"}
    project.dataset(ADDER, [adding("two-and-two", 2, 2, expected=expected), adding("one-and-two", 1, 2)])
    project.edit(EVALUATORS, '@evaluator(reads={"total"},', '@evaluator(reads={"total"}, may_read={"note"},')
    return project


def test_a_dead_expectation_is_red_by_file_example_and_path(noted: Project) -> None:
    assert noted.run("check").code == 0, "the evaluator declares that it reads the key: no static rule can see it"
    ended = noted.run("run")
    assert ended.code == 1
    assert "adder/two-and-two/expected.note: no change of this expectation moves a score" in ended.out
    assert "datasets/adder/examples.json" in ended.out
    assert noted.run("score").code == 1


def test_an_expectation_that_is_dead_on_purpose_is_not_red(noted: Project) -> None:
    expected = {"total": 4, "parity": "even", "note": "carry"}
    why = {"note": "kept for the reader"}
    noted.dataset(ADDER, [adding("two-and-two", 2, 2, expected=expected, dead_on_purpose=why)])
    ended = noted.run("run")
    assert ended.code == 0, ended.out
