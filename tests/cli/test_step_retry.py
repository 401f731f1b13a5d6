"""A Dagster run that failed in the middle of an agent, re-executed from its failure: it resumes what its root left."""

import json
import subprocess
import sys
from typing import Any

import psycopg
import pytest

from tests.cli.project import Project

TARGET = "eval_pipeline/targets/adder.py"
SCRIPT = """
import json, sys
from dagster import DagsterInstance, ReexecutionOptions, execute_job, reconstructable


def nightly():
    from eval_pipeline.definitions import defs

    return defs().resolve_job_def("nightly")


if __name__ == "__main__":
    from retrying import nightly

    with DagsterInstance.get() as instance:
        again = ReexecutionOptions.from_failure(sys.argv[1], instance) if sys.argv[1:] else None
        in_process = {"execution": {"config": {"in_process": {}}}}
        options = {"reexecution_options": again} if again else {"run_config": in_process}
        with execute_job(reconstructable(nightly), instance, raise_on_error=False, **options) as result:
            made = [event.asset_key.to_user_string() for event in result.get_asset_materialization_events()]
            print(json.dumps({"run_id": result.run_id, "success": result.success, "made": made}))
"""

FAILS_ONCE = """
    from pathlib import Path
    once = Path(__file__).with_name("once")
    if not once.exists():
        once.touch()
        raise OSError("gone")
"""

pytestmark = pytest.mark.timeout(400)


def nightly(project: Project, *arguments: str) -> dict[str, Any]:
    url = project.environment["EVAL_DATABASE_URL"].replace("postgresql://", "postgresql+psycopg2://")
    home, logs = project.folder / "dagster_home", project.folder / "logs"
    environment = project.env(EVAL_DATABASE_URL=url, DAGSTER_HOME=str(home), EVAL_STEP_LOGS=str(logs))
    command = [sys.executable, "retrying.py", *arguments]
    done = subprocess.run(
        command, cwd=project.folder, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return value


def outcomes(project: Project) -> dict[tuple[str, str], Any]:
    with psycopg.connect(project.environment["EVAL_DATABASE_URL"]) as connection:
        rows = connection.execute("select run_id, example_id, started_at from results.outcomes").fetchall()
    return {(run_id, example): started_at for run_id, example, started_at in rows}


def test_a_run_re_executed_from_its_failure_runs_only_what_is_missing(project: Project) -> None:
    """H15: what was stored before the failure is not run again."""
    project.write("retrying.py", SCRIPT)
    project.edit(TARGET, "    yield run_one\n", f"    yield run_one\n{FAILS_ONCE}")
    failed = nightly(project)
    assert (failed["success"], failed["made"]) == (False, ["adder/dataset", "adder/langsmith_dataset"])
    before = outcomes(project)
    assert {run_id for run_id, _ in before} == {failed["run_id"]}
    assert len(before) == 3
    again = nightly(project, failed["run_id"])
    made = ["adder/outcomes", "adder/scores", "board", "langsmith_experiments", "release_gate"]
    assert (again["success"], sorted(again["made"])) == (True, made)
    assert again["run_id"] != failed["run_id"]
    assert outcomes(project) == before
    board = project.run("board", "--json").json
    assert (board["run_id"], board["state"], board["partial"]) == (failed["run_id"], "GREEN", False)
