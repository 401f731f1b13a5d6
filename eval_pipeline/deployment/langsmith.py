"""The asset of each agent's copy at LangSmith, and its check: the copy equals the repo."""

from dataclasses import asdict

import dagster as dg

from eval_pipeline.commit import commit_of
from eval_pipeline.dataset import Dataset, load_dataset
from eval_pipeline.deployment import metadata
from eval_pipeline.langsmith_copy import Synced, dataset_name, sync
from eval_pipeline.langsmith_service import NoService, ServiceError, connect
from eval_pipeline.registry import AgentEntry
from eval_pipeline.settings import settings

RULE = "copy_equals_repo"
WHY = (
    "the copy at LangSmith, read back after the sync, holds what the repo holds; a warning where there is no LangSmith"
)


def copy_asset(entry: AgentEntry, key: dg.AssetKey, dataset_key: dg.AssetKey) -> dg.AssetsDefinition:
    """The copy of one agent's dataset. A service that fails is told by the check; it holds up nothing else."""

    @dg.asset(
        key=key,
        group_name=entry.name,
        deps=[dataset_key],
        check_specs=[dg.AssetCheckSpec(RULE, asset=key, description=WHY)],
        kinds={"langsmith"},
        description=f"The copy of {entry.name}'s examples at LangSmith, rebuilt from the repo; its version is tagged.",
    )
    def langsmith_dataset() -> dg.MaterializeResult:  # type: ignore[type-arg]
        now = load_dataset(settings().datasets / entry.name)
        try:
            done = _synced(now)
        except ServiceError as error:
            return _told(key, str(error), dg.AssetCheckSeverity.ERROR)
        if isinstance(done, NoService):
            return _told(key, done.reason, dg.AssetCheckSeverity.WARN)
        told = {**metadata.numbers(asdict(done) | {"dataset": None, "tags": None}), "tags": ", ".join(done.tags)}
        return dg.MaterializeResult(
            data_version=dg.DataVersion(now.digest),
            metadata={"name": dataset_name(entry.name), **told},
            check_results=[dg.AssetCheckResult(check_name=RULE, asset_key=key, passed=True)],
        )

    return langsmith_dataset


def _synced(dataset: Dataset) -> Synced | NoService:
    client = connect()
    return (
        client if isinstance(client, NoService) else sync(client, dataset, commit_of(dataset.folder, settings().commit))
    )


def _told(key: dg.AssetKey, reason: str, severity: dg.AssetCheckSeverity) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Nothing was copied, for this reason."""
    failed = dg.AssetCheckResult(
        check_name=RULE, asset_key=key, passed=False, severity=severity, metadata={"reason": reason}
    )
    return dg.MaterializeResult(metadata={"not copied": reason}, check_results=[failed])
