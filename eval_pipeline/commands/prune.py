"""``prune``: what the job ``retention`` deletes, by hand, or what it would."""

from dataclasses import asdict
from datetime import UTC, datetime

from rich.console import Console

from eval_pipeline.errors import OK
from eval_pipeline.printed import stdout_to_stderr
from eval_pipeline.results.database import Database
from eval_pipeline.settings import Settings, settings
from eval_pipeline.storage import storage
from eval_pipeline.terminal import print_json

UNSET = "EVAL_KEEP_RUNS_DAYS and EVAL_KEEP_OUTCOMES_DAYS are not set: everything is kept"


def prune(out: Console, *, is_dry: bool, as_json: bool) -> int:
    """Deletes what the settings no longer keep, and says how much; 0, also when there was nothing.

    Raises DatasetError for a dataset that cannot be read, ResultsUnavailable when the database does not answer.
    """
    chosen = settings()
    with storage(chosen) as where, Database(where.database_url) as database, stdout_to_stderr():
        from eval_pipeline.deployment.materialize import instance
        from eval_pipeline.deployment.retention import prune as delete

        with instance() as dagster:
            done = delete(dagster, database, chosen, now=datetime.now(UTC), dry_run=is_dry)
    if as_json:
        print_json(out, {"dry_run": is_dry, **asdict(done)})
        return OK
    if _keeps_all(chosen):
        out.print(UNSET)
        return OK
    verb = "would be deleted" if is_dry else "deleted"
    out.print(
        f"{verb}: outcomes of {len(done.outcomes)} runs, {len(done.runs)} runs of Dagster, {done.n_alerts} alerts"
    )
    return OK


def _keeps_all(chosen: Settings) -> bool:
    return chosen.keep_runs_days is None and chosen.keep_outcomes_days is None
