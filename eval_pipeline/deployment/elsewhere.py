"""A run of the command line whose steps are executed by other processes, on this machine or on others."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager

import dagster as dg
from dagster import DagsterInstance
from dagster._core.definitions.assets.job.asset_job import IMPLICIT_ASSET_JOB_NAME  # no public name for it
from dagster._core.definitions.reconstruct import ReconstructableRepository  # nor for a job by its name
from dagster._core.execution.api import execute_run  # nor for a run with an id of our own

from eval_pipeline.deployment.watch import WATCH
from eval_pipeline.pipeline import Plan
from eval_pipeline.results import outcomes
from eval_pipeline.results.database import Database
from eval_pipeline.run import Progress
from eval_pipeline.settings import settings

LOOK_S = 1.0
"""How often the outcomes are counted that the other processes have stored."""


def execute_elsewhere(
    instance: DagsterInstance,
    assets: Sequence[dg.AssetKey],
    run_config: Mapping[str, object],
    run_id: str,
    tags: Mapping[str, str],
) -> dg.JobExecutionResult:
    """Executes a run of these assets with the executor of the definitions.

    The first Ctrl-C (or SIGTERM) asks the run to end in order: shards stop when they look, and what they have finished
    is collected, scored and put on a board. The second one raises KeyboardInterrupt, and leaves a cancelled run.
    """
    definitions = ReconstructableRepository.for_module("eval_pipeline.definitions", "defs")
    job = definitions.get_reconstructable_job(IMPLICIT_ASSET_JOB_NAME)
    run = instance.create_run_for_job(
        job_def=job.get_definition(),
        run_id=run_id,
        run_config=run_config,
        tags=tags,
        asset_selection=frozenset(assets),
        job_code_origin=job.get_python_origin(),
    )
    ended: Future[dg.JobExecutionResult] = Future()
    threading.Thread(target=_settle, args=(ended, lambda: execute_run(job, run, instance)), daemon=True).start()
    asked = False
    try:
        with WATCH.interruptible():
            while not ended.done():
                wait([ended], LOOK_S / 4)
                if WATCH.interrupted.is_set() and not asked:
                    instance.report_run_canceling(run)
                    asked = True
    except KeyboardInterrupt:
        instance.report_run_canceled(run)
        raise
    return ended.result()


def _settle(ended: "Future[dg.JobExecutionResult]", execute: Callable[[], dg.JobExecutionResult]) -> None:
    try:
        ended.set_result(execute())
    except BaseException as error:  # told to who waits
        ended.set_exception(error)


@contextmanager
def told_from_outside(plan: Plan, report: Callable[[Progress], None]) -> Iterator[None]:
    """While this lasts, the progress of a plan is told by what is stored, since the steps cannot tell it here."""
    url = settings().database_url
    if url is None:
        yield
        return
    done = threading.Event()
    watching = threading.Thread(target=_tell, args=(url.get_secret_value(), plan, report, done), daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _tell(url: str, plan: Plan, report: Callable[[Progress], None], done: threading.Event) -> None:
    before: dict[str, outcomes.Counts] = {}
    with Database(url) as database:
        while True:
            last = done.wait(LOOK_S)
            for item in plan.suite:
                of = len(plan.chosen[item.name]) * plan.trials
                counts = outcomes.counted(database, plan.run_id, item.name)
                if counts != before.get(item.name) and counts.stored:
                    report(Progress(item.name, counts.stored, of, counts.failed, counts.skipped))
                before[item.name] = counts
            if last:
                return
