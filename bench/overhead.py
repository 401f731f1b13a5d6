"""What Dagster costs a run: the same selection of all agents with its assets and checks, and by the plain steps."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from uuid import uuid4

from eval_pipeline.pipeline import Plan, Request, make_plan, publish_board, run_one_agent, score_agents, start
from eval_pipeline.results.database import Database
from eval_pipeline.results.lease import claimed_run
from eval_pipeline.selection import Selection
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage

LIMIT = 20
ROUNDS = 3


def measure() -> Iterator[str]:
    """So many examples of each agent, some rounds of either way in turn, in one process; the first round warms up."""
    plain: list[float] = []
    by_dagster: list[float] = []
    told = ""
    with _home(), storage(settings()) as where, Database(where.database_url) as database:
        from eval_pipeline.deployment import materialize

        for _ in range(ROUNDS + 1):
            plan = _plan(database)
            began = time.perf_counter()
            with claimed_run(database, plan.run_id):
                start(database, plan)
                for item in plan.suite:
                    run_one_agent(database, plan, item.name, settings())
                score_agents(database, plan.run_id, settings())
                publish_board(database, plan.run_id)
            plain.append(time.perf_counter() - began)
            plan = _plan(database)
            began = time.perf_counter()
            with claimed_run(database, plan.run_id), redirect_stdout(sys.stderr):
                materialize.materialize(plan, plan.run_id, lambda _: None)
            by_dagster.append(time.perf_counter() - began)
            with materialize.instance() as instance:
                events = [entry.dagster_event for entry in instance.all_logs(plan.run_id) if entry.dagster_event]
            kinds = [event.event_type_value for event in events]
            n_checks = kinds.count("ASSET_CHECK_EVALUATION")
            told = f"{kinds.count('STEP_START')} steps, {len(kinds)} events, of which {n_checks} answers of checks"
    costs = sorted(b - a for a, b in zip(plain[1:], by_dagster[1:], strict=True))
    yield f"{LIMIT} examples of each of {len(plan.suite)} agents, {ROUNDS} rounds: {told}"
    yield f"plain {min(plain[1:]):.2f} s, by Dagster {min(by_dagster[1:]):.2f} s at best"
    yield f"overhead {costs[0]:.2f} to {costs[-1]:.2f} s"


def _plan(database: Database) -> Plan:
    return make_plan(database, str(uuid4()), Request(Selection(limit=LIMIT)), settings())


@contextmanager
def _home() -> Iterator[None]:
    """The settings of a process of its own: in this one nothing chooses an executor."""
    before = os.environ.pop("EVAL_EXECUTOR", None)
    settings.cache_clear()
    try:
        yield
    finally:
        if before is not None:
            os.environ["EVAL_EXECUTOR"] = before
        settings.cache_clear()
