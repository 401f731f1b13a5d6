"""The assets at LangSmith: the copy of each agent's dataset, and the night's run as experiments on the copies."""

from collections.abc import Sequence
from dataclasses import asdict

import dagster as dg

from eval_pipeline.commit import commit_of
from eval_pipeline.dataset import Dataset, load_dataset
from eval_pipeline.deployment import metadata
from eval_pipeline.deployment.request import RunRequest
from eval_pipeline.deployment.sources import code_links, own_source
from eval_pipeline.errors import EvalPipelineError
from eval_pipeline.langsmith_copy import Synced, dataset_name, sync
from eval_pipeline.langsmith_experiments import Losses, publish
from eval_pipeline.langsmith_service import NoService, ServiceError, connect
from eval_pipeline.registry import AGENTS, AgentEntry
from eval_pipeline.settings import settings

RULE = "copy_equals_repo"
WHY = (
    "the copy at LangSmith, read back after the sync, holds what the repo holds; a warning where there is no LangSmith"
)

PUBLISHED = "run_is_published"
WHY_PUBLISHED = "the run's attempts and scores are at LangSmith; a warning where there is no LangSmith"


def copy_asset(entry: AgentEntry, key: dg.AssetKey, dataset_key: dg.AssetKey) -> dg.AssetsDefinition:
    """The copy of one agent's dataset. A service that fails is told by the check; it holds up nothing else."""

    @dg.asset(
        key=key,
        group_name=entry.name,
        deps=[dataset_key],
        metadata=code_links([own_source("copy", "langsmith_copy.py")]),
        check_specs=[dg.AssetCheckSpec(RULE, asset=key, description=WHY)],
        kinds={"langsmith"},
        description=f"The copy of {entry.name}'s examples at LangSmith, rebuilt from the repo; its version is tagged.",
    )
    def langsmith_dataset() -> dg.MaterializeResult:  # type: ignore[type-arg]
        now = load_dataset(settings().datasets / entry.name)
        try:
            done = _synced(now)
        except ServiceError as error:
            return _told(key, RULE, str(error), dg.AssetCheckSeverity.ERROR)
        if isinstance(done, NoService):
            return _told(key, RULE, done.reason, dg.AssetCheckSeverity.WARN)
        told = {**metadata.numbers(asdict(done) | {"dataset": None, "tags": None}), "tags": ", ".join(done.tags)}
        return dg.MaterializeResult(
            data_version=dg.DataVersion(now.digest),
            metadata={"name": dataset_name(entry.name), **told},
            check_results=[dg.AssetCheckResult(check_name=RULE, asset_key=key, passed=True)],
        )

    return langsmith_dataset


def experiments_asset(key: dg.AssetKey, deps: Sequence[dg.AssetKey]) -> dg.AssetsDefinition:
    """The run of the night as experiments, one for each agent, once all is scored."""

    @dg.asset(
        key=key,
        group_name="board",
        deps=deps,
        metadata=code_links([own_source("experiments", "langsmith_experiments.py")]),
        check_specs=[dg.AssetCheckSpec(PUBLISHED, asset=key, description=WHY_PUBLISHED)],
        kinds={"langsmith"},
        description="The run as experiments at LangSmith: attempts beside their examples, scores as feedback.",
    )
    def langsmith_experiments(context: dg.AssetExecutionContext, request: RunRequest) -> dg.MaterializeResult:  # type: ignore[type-arg]
        losses = Losses()
        try:
            client = connect(on_lost=losses)
            if isinstance(client, NoService):
                return _told(key, PUBLISHED, client.reason, dg.AssetCheckSeverity.WARN)
            datasets = {entry.name: load_dataset(settings().datasets / entry.name) for entry in AGENTS}
            with request.database() as database:
                done = publish(client, losses, database, request.root_run(context, database), datasets)
        except EvalPipelineError as error:
            return _told(key, PUBLISHED, str(error), dg.AssetCheckSeverity.ERROR)
        return dg.MaterializeResult(
            metadata={
                **{item.agent: dg.MetadataValue.url(item.url) for item in done},
                **metadata.numbers({"n_runs": sum(item.n_runs for item in done)}),
            },
            check_results=[dg.AssetCheckResult(check_name=PUBLISHED, asset_key=key, passed=True)],
        )

    return langsmith_experiments


def _synced(dataset: Dataset) -> Synced | NoService:
    client = connect()
    return (
        client if isinstance(client, NoService) else sync(client, dataset, commit_of(dataset.folder, settings().commit))
    )


def _told(key: dg.AssetKey, rule: str, reason: str, severity: dg.AssetCheckSeverity) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Nothing was done, for this reason."""
    failed = dg.AssetCheckResult(
        check_name=rule, asset_key=key, passed=False, severity=severity, metadata={"reason": reason}
    )
    return dg.MaterializeResult(metadata={"not done": reason}, check_results=[failed])
