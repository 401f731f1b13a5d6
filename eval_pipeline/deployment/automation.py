"""Jobs: what runs together."""

import dagster as dg

from eval_pipeline.deployment.assets import key
from eval_pipeline.registry import AGENTS

structure = dg.define_asset_job(
    "structure",
    selection=dg.AssetSelection.assets(*(key(entry.name, "dataset") for entry in AGENTS)),
    description="Datasets and static rules; no model, no ledger. For pull requests.",
)
sync = dg.define_asset_job(
    "sync",
    selection=dg.AssetSelection.assets(
        *(key(entry.name, part) for entry in AGENTS for part in ("dataset", "langsmith_dataset"))
    ),
    description="Makes the copies at LangSmith equal to the repo. No model, no ledger.",
)
nightly = dg.define_asset_job(
    "nightly",
    selection=dg.AssetSelection.all(),
    description="Everything, up to the release decision.",
    # Once more when its process is lost (dagster.yaml: not when a step failed). Outcomes that are stored are finished.
    tags={"dagster/max_retries": "1", "dagster/retry_strategy": "ALL_STEPS"},
)
