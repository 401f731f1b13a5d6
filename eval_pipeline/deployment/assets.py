"""The assets of each agent, made from the registry: dataset, its copy, outcomes, scores. One more adds no code."""

import sys
from collections.abc import Sequence

import dagster as dg

from eval_pipeline import telemetry
from eval_pipeline.board import build_board
from eval_pipeline.deployment import metadata
from eval_pipeline.deployment.checks import (
    offence_check,
    problem_check,
    run_rule_checks,
    run_rule_specs,
)
from eval_pipeline.deployment.langsmith import copy_asset
from eval_pipeline.deployment.outcomes import outcomes_asset
from eval_pipeline.deployment.request import RunRequest
from eval_pipeline.deployment.sources import code_links, dataset_sources, score_sources
from eval_pipeline.errors import EvalPipelineError
from eval_pipeline.judge import control
from eval_pipeline.pipeline import score_agents
from eval_pipeline.registry import JUDGED_KEYS, AgentEntry
from eval_pipeline.rules import liveness
from eval_pipeline.rules.after_run import stale_intermittents, verdict_offences
from eval_pipeline.rules.static import COMMON, offences, rules_of
from eval_pipeline.settings import settings
from eval_pipeline.suite import AgentSuite, load_agent


def key(agent: str, part: str) -> dg.AssetKey:
    """The key of one of an agent's assets."""
    return dg.AssetKey([agent, part])


def agent_assets(entry: AgentEntry) -> list[dg.AssetsDefinition]:
    """The chain of one agent. A dataset that cannot be read does not take the other agents' definitions away."""
    try:
        suite: AgentSuite | None = load_agent(entry, settings().datasets)
    except EvalPipelineError:
        suite = None
    dataset = key(entry.name, "dataset")
    outcomes = outcomes_asset(entry, suite, key(entry.name, "outcomes"), dataset)
    copy = copy_asset(entry, key(entry.name, "langsmith_dataset"), dataset)
    return [_dataset(entry, suite), copy, outcomes, _scores(entry, suite)]


def _dataset(entry: AgentEntry, suite: AgentSuite | None) -> dg.AssetsDefinition:
    asset_key = key(entry.name, "dataset")
    rules = rules_of(suite) if suite else COMMON
    specs = [dg.AssetCheckSpec(rule.name, asset=asset_key, description=rule.why) for rule in rules]

    @dg.asset(
        key=asset_key,
        group_name=entry.name,
        code_version=suite.dataset.digest[:32] if suite else "unreadable",
        metadata=code_links(dataset_sources(entry, settings().datasets)),
        check_specs=specs,
        kinds={"json"},
        description=f"The examples of {entry.name}, from JSON in the repo; its data version is their digest.",
    )
    def dataset() -> dg.MaterializeResult:  # type: ignore[type-arg]
        now = load_agent(entry, settings().datasets)
        found = offences(now)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(now.dataset.digest),
            metadata=metadata.about_dataset(now.dataset),
            check_results=[offence_check(asset_key, rule.name, found) for rule in rules],
        )

    return dataset


def not_part_of_the_run(specs: Sequence[dg.AssetCheckSpec]) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """What is said of an agent that a run left out by its selection: nothing of it was looked at, nothing passed."""
    told = "this run's selection leaves the agent out"
    results = [
        dg.AssetCheckResult(
            check_name=spec.name,
            asset_key=spec.asset_key,
            passed=False,
            severity=dg.AssetCheckSeverity.WARN,
            metadata={"reason": told},
        )
        for spec in specs
    ]
    return dg.MaterializeResult(metadata={"skipped": told}, check_results=results)


def _scores(entry: AgentEntry, suite: AgentSuite | None) -> dg.AssetsDefinition:
    asset_key = key(entry.name, "scores")
    is_judged = entry.name in JUDGED_KEYS
    specs = [
        *run_rule_specs(asset_key),
        dg.AssetCheckSpec(liveness.RULE, asset=asset_key, description=liveness.WHY),
        *([dg.AssetCheckSpec(control.RULE, asset=asset_key, description=control.WHY)] if is_judged else []),
    ]

    @dg.asset(
        key=asset_key,
        group_name=entry.name,
        deps=[key(entry.name, "dataset"), key(entry.name, "outcomes")],
        code_version=suite.evaluators_digest if suite else "unreadable",
        metadata=code_links(score_sources(entry)),
        check_specs=specs,
        kinds={"python"},
        description=f"The scores and verdicts of {entry.name}: stored outcomes through the evaluators, no model call.",
    )
    def scores(context: dg.AssetExecutionContext, request: RunRequest) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with request.database() as database:
            run_id = request.root_run(context, database)
            score_agents(database, run_id, settings(), [entry.name])
            lost = telemetry.send(database, run_id, entry.name) if telemetry.is_on() else None
            board = build_board(database, run_id)
            now = load_agent(entry, settings().datasets)
            mine = [item for item in board.examples if item.agent == entry.name]
            found = [*verdict_offences(mine), *stale_intermittents(now, database, board.model)]
        if lost:
            sys.stderr.write(f"traces of {entry.name}: {lost}\n")
        row = next((item for item in board.agents if item.agent == entry.name), None)
        if row is None:
            return not_part_of_the_run(specs)
        return dg.MaterializeResult(
            metadata={
                "state": row.state.value,
                "red": metadata.red_examples(board, entry.name),
                **metadata.agent_numbers(row),
                **({"traces": lost} if lost else {}),
            },
            check_results=[
                *run_rule_checks(asset_key, found, strict=request.is_strict),
                problem_check(asset_key, liveness.RULE, row.problems),
                *([problem_check(asset_key, control.RULE, row.problems)] if is_judged else []),
            ],
        )

    return scores
