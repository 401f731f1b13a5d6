"""Retention on the deployment's own instance: events, answers of checks and step logs of an old run go with it."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dagster import DagsterInstance

from eval_pipeline.definitions import defs
from eval_pipeline.deployment.retention import prune
from eval_pipeline.results import Database
from eval_pipeline.settings import Settings, settings

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def test_an_old_run_goes_whole_and_the_one_with_the_newest_answers_stays(dagster: DagsterInstance) -> None:
    job = defs().resolve_job_def("structure")
    old, newest = (job.execute_in_process(instance=dagster, run_config=QUIET).run_id for _ in range(2))
    logs = Path(os.environ["EVAL_STEP_LOGS"])
    url = settings().database_url
    assert url is not None
    with Database(url.get_secret_value()) as database:

        def runs_in(table: str) -> set[str]:
            with database.transaction() as db:
                db.execute(f"select distinct run_id from public.{table}")
                return {row["run_id"] for row in db.fetchall()}

        tables = ("asset_check_executions", "event_logs", "runs")
        assert all({old, newest} <= runs_in(table) for table in tables)
        done = prune(dagster, database, Settings(keep_runs_days=8), now=datetime.now(UTC) + timedelta(days=10))
        assert old in done.runs
        for table in tables:
            assert old not in runs_in(table)
            assert newest in runs_in(table)
    assert not (logs / old).exists()
