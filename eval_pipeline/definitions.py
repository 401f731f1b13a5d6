"""The one code location of the deployment."""

import dagster as dg

from eval_pipeline.deployment.alerting import sensors
from eval_pipeline.deployment.assets import agent_assets, key
from eval_pipeline.deployment.automation import nightly, structure, sync
from eval_pipeline.deployment.board import board, release_gate
from eval_pipeline.deployment.executors import executor_of
from eval_pipeline.deployment.langsmith import experiments_asset
from eval_pipeline.deployment.nights import schedules
from eval_pipeline.deployment.request import RunRequest
from eval_pipeline.deployment.retention import retention, retention_schedule
from eval_pipeline.registry import AGENTS
from eval_pipeline.settings import settings


@dg.definitions
def defs() -> dg.Definitions:
    """Assets for each registered agent, the board, the gate, the experiments, and the jobs."""
    # Of the scores and not of the board: the check that blocks the gate would withhold a red run from LangSmith too.
    shown = [key(entry.name, part) for entry in AGENTS for part in ("scores", "langsmith_dataset")]
    experiments = experiments_asset(dg.AssetKey("langsmith_experiments"), shown)
    return dg.Definitions(
        assets=[*(asset for entry in AGENTS for asset in agent_assets(entry)), board, release_gate, experiments],
        jobs=[structure, nightly, sync, retention],
        schedules=[*schedules(), retention_schedule(settings())],
        sensors=sensors(),
        resources={"request": RunRequest()},
        executor=executor_of(settings()),
    )
