"""``--resume``: only what is missing runs, it belongs to the root run, and what is resumed must be the same thing."""

import json
import signal
import subprocess
import time
from typing import Any

import psycopg
import pytest

from tests.cli.agents import ADDER, ADDER_EXAMPLES, adding
from tests.cli.project import Project

EVALUATORS = "eval_pipeline/evaluators/adder.py"
GRAPH = "bookkeeping/agents/adder/graph.py"
SUM = 'return {"total": state["left"] + state["right"]}'
SLOWLY = f"import time\n    time.sleep(0.3)\n    {SUM}"
N = 24

pytestmark = pytest.mark.timeout(400)  # several whole commands each, and others may use the machine


def outcomes(project: Project, run_id: str = "%") -> dict[str, Any]:
    """When each stored outcome began, by example."""
    with psycopg.connect(project.environment["EVAL_DATABASE_URL"]) as connection:
        query = "select example_id, started_at from results.outcomes where run_id like %s"
        return dict(connection.execute(query, (run_id,)).fetchall())


def started(project: Project, n: int = 4, *arguments: str) -> "subprocess.Popen[str]":
    """A run that is in the middle: so many outcomes are stored."""
    running = project.start("run", "--json", *arguments, EVAL_CONCURRENCY="2")
    deadline = time.monotonic() + 60
    while len(outcomes(project)) < n:
        assert time.monotonic() < deadline, "no outcome was stored within a minute"
        time.sleep(0.05)
    return running


def latest(project: Project) -> str:
    return str(project.run("board", "--json").json["run_id"])


def comparable(board: dict[str, Any]) -> dict[str, Any]:
    """A board without its id and its times."""
    rest = {key: value for key, value in board.items() if key not in ("run_id", "started_at", "finished_at")}
    rest["agents"] = [{key: value for key, value in row.items() if key != "seconds"} for row in board["agents"]]
    return rest


@pytest.fixture
def slow(project: Project) -> Project:
    """The adder, who takes his time, with many sums; one of them is graded wrongly."""
    project.edit(GRAPH, SUM, SLOWLY)
    wrong = adding("wrong", 1, 1, expected={"total": 3, "parity": "even"})
    project.dataset(ADDER, [*(adding(f"sum-{n}", n, n) for n in range(N)), wrong])
    return project


def test_a_killed_run_is_resumed_and_its_board_is_that_of_an_undisturbed_one(slow: Project) -> None:
    """H15: SIGKILL, resume from what was flushed."""
    running = started(slow)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    run_id, kept = latest(slow), outcomes(slow)
    assert 4 <= len(kept) < N
    resumed = slow.run("run", "--resume", run_id, "--json", EVAL_CONCURRENCY="32")
    assert (resumed.code, resumed.json["run_id"]) == (1, run_id)
    now = outcomes(slow)
    assert len(now) == N + 1
    assert {name: now[name] for name in kept} == kept
    undisturbed = slow.run("run", "--json", EVAL_CONCURRENCY="32")
    assert comparable(resumed.json) == comparable(undisturbed.json)
    assert undisturbed.json["agents"][0]["verdicts"]["PASS"] == N


def test_a_second_command_on_a_run_is_refused_with_a_sentence(slow: Project) -> None:
    slow.dataset(ADDER, [adding(f"sum-{n}", n, n) for n in range(1000)])  # minutes, had it to end by itself
    running = started(slow)
    with psycopg.connect(slow.environment["EVAL_DATABASE_URL"]) as connection:
        (run_id,) = connection.execute("select run_id from results.runs").fetchone() or ("",)
    second = slow.run("run", "--resume", run_id)
    assert second.code == 2
    assert f"run {run_id} is being run by another command" in second.err
    assert "Traceback" not in second.err
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert json.loads(out)["run_id"] == run_id


def test_a_resume_of_a_finished_run_runs_nothing(project: Project) -> None:
    """H23: run again, identical scores."""
    first = project.run("run", "--json")
    before = outcomes(project)
    again = project.run("run", "--resume", first.json["run_id"], "--json")
    assert again.code == 0
    assert outcomes(project) == before
    assert comparable(again.json) == comparable(first.json)


def test_retry_errors_runs_what_is_in_error_again_and_nothing_else(project: Project) -> None:
    """H16: what ends in error has a stored row, which a resume takes as finished unless it is told otherwise."""
    project.edit(
        GRAPH,
        SUM,
        "from pathlib import Path\n    fail = Path(__file__).with_name('fail')\n"
        f"    if fail.exists() and state['left'] == 1:\n        raise RuntimeError('no carry left')\n    {SUM}",
    )
    fail = project.write("bookkeeping/agents/adder/fail", "")
    version = "select code_version from results.run_agents"
    first = project.run("run", "--json")
    assert first.verdict("one-and-two")["verdict"] == "ERROR"
    before = outcomes(project)
    plain = project.run("run", "--resume", first.json["run_id"], "--json")
    assert plain.verdict("one-and-two")["verdict"] == "ERROR"
    assert outcomes(project) == before
    fail.unlink()
    with psycopg.connect(project.environment["EVAL_DATABASE_URL"], autocommit=True) as connection:
        # The marker file is no part of what is tested here, but it stands among the agent's files.
        (other,) = connection.execute(version).fetchone() or ("",)
        refused = project.run("run", "--resume", first.json["run_id"], "--retry-errors")
        assert "the code of adder has changed" in refused.err
        fresh = project.run("run", "adder/two-and-two", "--json")
        (now,) = connection.execute(f"{version} where run_id = %s", (fresh.json["run_id"],)).fetchone() or ("",)
        assert now != other
        connection.execute("delete from results.runs where run_id = %s", (fresh.json["run_id"],))
        connection.execute("update results.run_agents set code_version = %s", (now,))
    retried = project.run("run", "--resume", first.json["run_id"], "--retry-errors", "--json")
    assert (retried.code, retried.verdict("one-and-two")["verdict"]) == (0, "PASS")
    after = outcomes(project)
    assert after.pop("one-and-two") != before.pop("one-and-two")
    assert after == before


def refused(project: Project, run_id: str, told: str, *arguments: str) -> None:
    ended = project.run("run", "--resume", run_id, *arguments)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err


def test_a_resume_of_something_else_is_refused(project: Project) -> None:
    """H25: nothing stored for one model is taken for another."""
    run_id = str(project.run("run", "--trials", "2", "--json").json["run_id"])
    refused(project, run_id, "had trials 2, not 3: start a new run", "--trials", "3")
    refused(project, run_id, "had trials 2, not 1: start a new run", "--trials", "1")
    refused(project, run_id, "had model None, not other: start a new run", "--model", "other")
    refused(project, run_id, "has the selection of its root", "adder/two-and-two")
    project.dataset(ADDER, ADDER_EXAMPLES[:2])
    refused(project, run_id, "the dataset of adder has changed")
    project.dataset(ADDER, ADDER_EXAMPLES)
    project.edit(GRAPH, SUM, f"{SUM}  # the same sum")
    refused(project, run_id, "the code of adder has changed")


def test_a_run_killed_between_its_outcomes_and_its_scores_is_scored_by_a_resume(project: Project) -> None:
    project.edit(EVALUATORS, 'yield Score("total_correct"', 'import time; time.sleep(30); yield Score("total_correct"')
    running = started(project, n=3)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    run_id = latest(project)
    before = outcomes(project)
    project.edit(EVALUATORS, "import time; time.sleep(30); ", "")
    resumed = project.run("run", "--resume", run_id, "--json")
    assert (resumed.code, resumed.json["state"], resumed.json["partial"]) == (0, "GREEN", False)
    assert outcomes(project) == before


def test_megabytes_on_stdout_leave_the_json_alone(project: Project) -> None:
    """H40: the run goes on, output is bounded."""
    noise = 'import os\n    print("z" * 3_000_000)\n    os.write(1, b"past python")\n    '
    project.edit(GRAPH, SUM, noise + SUM)
    project.edit(EVALUATORS, 'yield Score("total_correct"', 'print("y" * 3_000_000); yield Score("total_correct"')
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (0, "GREEN")
    assert "past python" in ended.err
    assert len(ended.err) < 200_000
    (outcome,) = project.run("trace", "adder/two-and-two", "--json").json["outcomes"]
    (printed,) = (span for span in outcome["spans"] if span["kind"] == "print")
    assert printed["output"]["text"].endswith("... (cut) of 3000001 characters")
