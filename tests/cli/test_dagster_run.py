"""What a run leaves in Dagster: the same run that the board names, with every check evaluated."""

import json
import subprocess
import sys

from tests.cli.agents import ADDER, adding, register
from tests.cli.project import Project

EVENTS = """
import json, sys
from dagster import AssetKey, DagsterEventType, DagsterInstance
run_id = sys.argv[1]
with DagsterInstance.get() as instance:
    run = instance.get_run_by_id(run_id)
    kinds = {DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED, DagsterEventType.ASSET_CHECK_EVALUATION}
    planned, evaluated = [], {}
    for entry in instance.all_logs(run_id, of_type=kinds):
        data = entry.dagster_event.event_specific_data
        name = f"{data.asset_key.to_user_string()}:{data.check_name}"
        if entry.dagster_event_type == DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED:
            planned.append(name)
        else:
            evaluated[name] = data.passed
    made = [
        entry.dagster_event.asset_key.to_user_string()
        for entry in instance.all_logs(run_id, of_type=DagsterEventType.ASSET_MATERIALIZATION)
    ]
print(json.dumps({"status": run.status.value, "planned": planned, "evaluated": evaluated, "made": made}))
"""


def events(project: Project, run_id: str) -> dict:
    """What Dagster's event log has of a run."""
    url = project.environment["EVAL_DATABASE_URL"].replace("postgresql://", "postgresql+psycopg2://")
    environment = project.env(
        EVAL_DATABASE_URL=url, DAGSTER_HOME=str(project.folder / "dagster_home"), EVAL_STEP_LOGS=str(project.folder)
    )
    done = subprocess.run(
        [sys.executable, "-c", EVENTS, run_id],
        env=environment,
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_green_run_is_in_dagster_with_every_check_evaluated(project: Project) -> None:
    run_id = project.run("run", "--json").json["run_id"]
    log = events(project, run_id)
    assert log["status"] == "SUCCESS"
    assert log["made"] == ["adder/dataset", "adder/outcomes", "adder/scores", "board"]
    assert sorted(log["planned"]) == sorted(log["evaluated"])
    assert all(log["evaluated"].values())
    assert "adder/dataset:every_key_is_graded" in log["evaluated"]
    assert "board:board_is_green" in log["evaluated"]


def test_a_broken_dataset_reaches_the_board_and_spares_the_other_agents(project: Project) -> None:
    """H41, H43: one agent's check fails, the other agents still run, and nothing behind the board materializes."""
    register(project, "bookkeeping.agents.adder", "bookkeeping.agents.subtractor")
    for path in (
        "bookkeeping/agents/{}/__init__.py",
        "bookkeeping/agents/{}/graph.py",
        "eval_pipeline/targets/{}.py",
        "eval_pipeline/evaluators/{}.py",
    ):
        text = (project.folder / path.format("adder")).read_text("utf-8")
        project.write(path.format("subtractor"), text.replace("adder", "subtractor").replace("Adder", "Subtractor"))
    broken = {**adding("colour", 1, 2)["expected"], "colour": "red"}
    project.dataset("subtractor", [adding("colour", 1, 2, expected=broken)])
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    states = {row["agent"]: row["state"] for row in ended.json["agents"]}
    assert states == {ADDER: "GREEN", "subtractor": "RED"}
    log = events(project, ended.json["run_id"])
    assert log["evaluated"]["subtractor/dataset:every_key_is_graded"] is False
    assert log["evaluated"]["adder/dataset:every_key_is_graded"] is True
    assert log["evaluated"]["board:board_is_green"] is False
    assert "board" in log["made"]
    assert "release_gate" not in log["made"]
