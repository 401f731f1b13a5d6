"""Connections: how many a deployment holds at the peak while twenty shards run at once, beside its own processes."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from bench.nights import ENDED, Deployment
from eval_pipeline.deployment.outcomes import POOL
from eval_pipeline.settings import PROJECT

Counts = tuple[int, int, int]
"""All connections, those to the first database, and those at work."""

SHARDS = int(os.environ.get("BENCH_SHARDS", "20"))
CONCURRENCY = 1
"""Attempts of a shard at once: with twenty shards these are twenty questions to the model at once."""
N_EXAMPLES = 400
LOOK_S = 0.05
PATIENCE_S = 600.0
NOWHERE = "json://127.0.0.1:9/nowhere"

RAISE = "mutation($pool: String!, $limit: Int!) { setConcurrencyLimit(concurrencyKey: $pool, limit: $limit) }"
STATUS = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
COUNT = """
select count(*), count(*) filter (where datname = current_database()), coalesce(sum((state = 'active')::int), 0)
  from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
"""


def measure() -> Iterator[str]:
    """One run of the Bookkeeper, in shards, by as many processes at once, over one server."""
    with TemporaryDirectory(prefix="eval-connections-") as folder:
        Path(folder).chmod(0o755)
        deployment = Deployment(Path(folder), NOWHERE)
        deployment.environment |= {"EVAL_CONCURRENCY": str(CONCURRENCY), "EVAL_DATASETS": str(PROJECT / "datasets")}
        try:
            deployment.start()
            yield from _measured(deployment)
        finally:
            deployment.stop()


def _measured(deployment: Deployment) -> Iterator[str]:
    with deployment.results() as database, psycopg.connect(database.url, autocommit=True) as watcher:
        before = _count(watcher)
        deployment.ask(RAISE, {"pool": POOL, "limit": SHARDS})
        execution = {"config": {"multiprocess": {"max_concurrent": SHARDS}}}
        asked = {"select": ["bookkeeper"], "limit": N_EXAMPLES, "shards": SHARDS}
        began = time.monotonic()
        run_id = deployment.launch(asked, execution)
        peaks = [before]
        over = threading.Event()
        looking = threading.Thread(target=_look, args=(watcher, peaks, over))
        looking.start()
        while deployment.ask(STATUS, {"id": run_id})["runOrError"]["status"] not in ENDED:
            if time.monotonic() - began > PATIENCE_S:
                raise TimeoutError(f"the run did not end within {PATIENCE_S:.0f} s")
            time.sleep(1)
        over.set()
        looking.join()
        with database.transaction() as db:
            db.execute("select count(*) as n from results.outcomes where run_id = %s", (run_id,))
            n_outcomes = (db.fetchone() or {})["n"]
    seconds = time.monotonic() - began
    yield f"{SHARDS} shards at once, {CONCURRENCY} attempts each: {n_outcomes} outcomes, {seconds:.0f} s"
    most = max(peaks)
    yield f"connections: {before[0]} before, {most[0]} at the peak, {most[1]} of them to Dagster's tables and results"


def _look(watcher: "psycopg.Connection[Counts]", peaks: list[Counts], over: threading.Event) -> None:
    while not over.wait(LOOK_S):
        peaks.append(_count(watcher))


def _count(watcher: "psycopg.Connection[Counts]") -> Counts:
    row = watcher.execute(COUNT).fetchone()
    return row or (0, 0, 0)
