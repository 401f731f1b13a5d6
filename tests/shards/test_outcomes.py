"""An agent's outcomes in several shards: the same board, and one shard that fails takes nothing else away."""

import json
from typing import Any

import psycopg
import pytest

from tests.cli.agents import ADDER, adding
from tests.cli.project import Ended, Project

N = 10
FAILS = """
create function public.refuse() returns trigger language plpgsql as $$ begin
    if new.example_id = 'sum-4' then raise exception 'the disk of the shard is full'; end if;
    return new;
end $$;
create trigger refuse before insert on results.outcomes for each row execute function public.refuse();
"""

# One worker for all that copies the project: its template databases are made once.
pytestmark = [pytest.mark.timeout(400), pytest.mark.xdist_group("shards")]


@pytest.fixture
def sums(project: Project) -> Project:
    """The adder with ten sums; one of them is graded wrongly."""
    wrong = adding("wrong", 1, 1, expected={"total": 3, "parity": "even"})
    project.dataset(ADDER, [*(adding(f"sum-{n}", n, n) for n in range(N - 1)), wrong])
    return project


def fetched(project: Project, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with psycopg.connect(project.environment["EVAL_DATABASE_URL"], autocommit=True) as connection:
        cursor = connection.execute(query, values)
        return cursor.fetchall() if cursor.description else []


def outcomes(project: Project, run_id: str) -> dict[str, Any]:
    """When each stored outcome of a run began."""
    return dict(fetched(project, "select example_id, started_at from results.outcomes where run_id = %s", run_id))


def shards(project: Project, run_id: str) -> set[str]:
    """The shards whose steps ended well."""
    query = "select step_key from event_logs where run_id = %s and dagster_event_type = 'STEP_SUCCESS'"
    steps = (step for (step,) in fetched(project, query, run_id))
    return {step.partition("[")[2].rstrip("]") for step in steps if "run_adder[" in step}


def comparable(ended: Ended) -> dict[str, Any]:
    """A board without its id and its times."""
    board = {key: value for key, value in ended.json.items() if key not in ("run_id", "started_at", "finished_at")}
    board["agents"] = [{key: value for key, value in row.items() if key != "seconds"} for row in board["agents"]]
    return board


def test_three_shards_make_the_board_that_one_makes(sums: Project) -> None:
    cut = sums.run("run", "--json", "--trials", "2", EVAL_SHARDS="3")
    whole = sums.run("run", "--json", "--trials", "2")
    assert comparable(cut) == comparable(whole)
    assert (cut.code, cut.json["partial"], cut.json["agents"][0]["verdicts"]["PASS"]) == (1, False, N - 1)
    assert shards(sums, cut.json["run_id"]) == {"1_of_3", "2_of_3", "3_of_3"}
    assert shards(sums, whole.json["run_id"]) == {"1_of_1"}
    assert "adder 1 of 3: 8 of 8 outcomes stored" in cut.err
    assert "adder: 20 of 20 outcomes stored" in whole.err


def test_a_shard_that_fails_takes_neither_the_others_nor_the_board_away_and_a_resume_runs_it(sums: Project) -> None:
    fetched(sums, FAILS)
    broken = sums.run("run", "--json", EVAL_SHARDS="3", EVAL_CONCURRENCY="1")
    run_id = broken.json["run_id"]
    assert (broken.code, broken.json["state"], broken.json["partial"]) == (1, "RED", True)
    (row,) = broken.json["agents"]
    told = [problem for problem in row["problems"] if problem.startswith("shard 2_of_3: could not be run")]
    assert len(told) == 1, row["problems"]
    assert "the disk of the shard is full" in told[0]
    kept = outcomes(sums, run_id)
    assert {"sum-0", "sum-3", "sum-6", "wrong", "sum-2", "sum-5", "sum-8"} <= set(kept)
    assert "sum-4" not in kept
    tried = "select count(*) from event_logs where run_id = %s and dagster_event_type = 'STEP_RESTARTED'"
    assert fetched(sums, tried, run_id) == [(1,)]

    fetched(sums, "drop trigger refuse on results.outcomes")
    resumed = sums.run("run", "--resume", run_id, "--json", EVAL_SHARDS="2")
    assert (resumed.json["run_id"], resumed.json["partial"]) == (run_id, False)
    assert not [problem for problem in resumed.json["agents"][0]["problems"] if "shard" in problem]
    now = outcomes(sums, run_id)
    assert len(now) == N
    assert {example: now[example] for example in kept} == kept
    whole = sums.run("run", "--json")
    assert json.dumps(comparable(resumed)["examples"]) == json.dumps(comparable(whole)["examples"])


def test_errors_are_retried_in_every_shard_and_nothing_else_is(sums: Project) -> None:
    """Each shard would else forget the failures that the one before it has just stored."""
    graph = "bookkeeping/agents/adder/graph.py"
    total = 'return {"total": state["left"] + state["right"]}'
    sums.edit(graph, total, f"if state['left'] in (2, 3):\n        raise ValueError('no carry left')\n    {total}")
    first = sums.run("run", "--json", EVAL_SHARDS="3")
    run_id = first.json["run_id"]
    assert first.json["agents"][0]["verdicts"]["ERROR"] == 2
    before = outcomes(sums, run_id)
    again = sums.run("run", "--resume", run_id, "--retry-errors", "--json", EVAL_SHARDS="3")
    assert again.json["agents"][0]["verdicts"]["ERROR"] == 2
    after = outcomes(sums, run_id)
    assert {example for example in before if before[example] != after[example]} == {"sum-2", "sum-3"}
