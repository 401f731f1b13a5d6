"""``run``: a request becomes a plan, the plan a Dagster run, the run a board."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from uuid import uuid4

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from eval_pipeline.board import Board, build_board
from eval_pipeline.board_text import print_board
from eval_pipeline.errors import NOT_GREEN, OK, ResultsUnavailable
from eval_pipeline.pipeline import Request, make_plan, publish_board, resumed, score_agents
from eval_pipeline.printed import stdout_to_stderr
from eval_pipeline.results import runs
from eval_pipeline.results.database import Database
from eval_pipeline.results.lease import claimed_run, require_unclaimed
from eval_pipeline.run import Progress as AgentProgress
from eval_pipeline.settings import settings
from eval_pipeline.storage import Storage, storage
from eval_pipeline.terminal import print_json

Report = Callable[[AgentProgress], None]


def run(request: Request, out: Console, err: Console, *, strict: bool, as_json: bool) -> int:
    """Runs, scores and shows the board. 0 not red (under strict: and nothing skipped), 1 otherwise.

    Raises EvalPipelineError when no board can be written.
    """
    with storage(settings()) as where, stdout_to_stderr():
        board = _board_of(request, where, err)
    if as_json:
        print_json(out, board.as_json())
    else:
        print_board(board, out)
    return OK if board.is_acceptable(strict=strict or settings().strict) else NOT_GREEN


def _board_of(request: Request, where: Storage, err: Console) -> Board:
    with Database(where.database_url) as database, ExitStack() as stack:
        request = resumed(database, request)
        dagster_run_id = str(uuid4())
        run_id = request.resume or dagster_run_id
        stack.enter_context(claimed_run(database, run_id))
        plan = make_plan(database, run_id, request, settings())
        require_unclaimed(database, run_id, [item.name for item in plan.suite])
        # Late: dagster takes most of a second to import, and a wrong selection should be told at once.
        from eval_pipeline.deployment.materialize import fail_orphaned_runs, materialize

        if where.server is not None and where.server.started_here:
            fail_orphaned_runs()
        if not settings().is_in_process:
            _require_executor(err)
        with _progress(err) as report:
            done = materialize(plan, dagster_run_id, report)
        for failure in done.failures:
            err.print(failure, style="red", markup=False, highlight=False, soft_wrap=True)
        if not runs.exists(database, run_id):
            raise ResultsUnavailable("the run left nothing behind: no board can be written")
        if done.has_board:
            return build_board(database, run_id, packs_count=settings().packs_count)
        if not settings().is_in_process:  # what the other processes stored was not scored by the steps that never came
            score_agents(database, run_id, settings())
        return publish_board(database, run_id, interrupted=done.interrupted, packs_count=settings().packs_count)


def _require_executor(err: Console) -> None:
    """Raises ConfigError when the executor is not installed or its broker does not answer; tells of missing workers."""
    from eval_pipeline.deployment.executors import executor_of

    executor_of(settings())
    if settings().executor != "celery":
        return
    from eval_pipeline.deployment.celery_worker import n_workers

    if n_workers(settings()) == 0:
        told = "no celery worker answers: the run waits until one comes (eval-pipeline worker)"
        err.print(told, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _progress(err: Console) -> Iterator[Report]:
    """Progress bars on a terminal; elsewhere a line for each agent when it is done."""
    if not err.is_terminal:
        yield _plain(err)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bars:
        tasks = {}

        def report(progress: AgentProgress) -> None:
            if progress.agent not in tasks:
                tasks[progress.agent] = bars.add_task(progress.agent, total=progress.of)
            bars.update(tasks[progress.agent], completed=progress.stored)

        yield report


def _plain(err: Console) -> Report:
    def report(progress: AgentProgress) -> None:
        if progress.stored >= progress.of:
            told = f"{progress.agent}: {progress.stored} of {progress.of} outcomes stored"
            err.print(told, markup=False, highlight=False, soft_wrap=True)

    return report
