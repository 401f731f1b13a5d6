"""``publish``: a run as experiments at LangSmith, beside the examples that it was about."""

from dataclasses import asdict

from rich.console import Console

from eval_pipeline.commands.sync import skipped, tell
from eval_pipeline.commit import commit_of
from eval_pipeline.dataset import load_dataset
from eval_pipeline.errors import OK
from eval_pipeline.langsmith_copy import sync
from eval_pipeline.langsmith_experiments import Losses
from eval_pipeline.langsmith_experiments import publish as publish_run
from eval_pipeline.langsmith_service import NoService, connect
from eval_pipeline.registry import AGENTS
from eval_pipeline.results import runs
from eval_pipeline.results.database import Database
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage


def publish(run_id: str, out: Console, *, strict: bool, as_json: bool) -> int:
    """Syncs the copies of the agents in the run, so that their examples are there, and publishes it.

    0 when it is published, or when there is no LangSmith; that is 1 under ``strict``. Raises ConfigError, DatasetError
    and ServiceError.
    """
    losses = Losses()
    client = connect(on_lost=losses)
    if isinstance(client, NoService):
        return skipped("publish", client, out, strict=strict, as_json=as_json)
    chosen = settings()
    with storage(chosen) as where, Database(where.database_url) as database:
        run = runs.get(database, run_id)
        names = {row.agent for row in runs.agents(database, run.run_id)} & {entry.name for entry in AGENTS}
        datasets = {name: load_dataset(chosen.datasets / name) for name in sorted(names)}
        for dataset in datasets.values():
            sync(client, dataset, commit_of(dataset.folder, chosen.commit))
        done = publish_run(client, losses, database, run.run_id, datasets)
    lines = [
        f"{item.agent}: {item.n_runs} attempts with {item.n_feedback} scores, {item.n_skipped} skipped: {item.url}"
        for item in done
    ]
    tell(out, {"run_id": run.run_id, "experiments": [asdict(item) for item in done]}, lines, as_json=as_json)
    return OK
