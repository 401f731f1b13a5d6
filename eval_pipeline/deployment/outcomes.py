"""``<agent>/outcomes``: a graph of steps, so that where they run is a setting and not a design.

    plan -> one step for each shard -> collect

No value goes from one step to the next: what a shard is, its key says, and what it made is in the results database. So
nothing has to be shared between machines but the databases. In process and with one shard this is as it reads.
"""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from eval_pipeline.deployment.checks import told_check
from eval_pipeline.deployment.request import RunRequest
from eval_pipeline.deployment.sources import code_links, outcome_sources
from eval_pipeline.deployment.watch import WATCH, end_with_the_run, run_ended
from eval_pipeline.errors import one_line
from eval_pipeline.pipeline import SHARD_PROBLEM, begin_agent, run_one_agent
from eval_pipeline.prerequisites import model_name
from eval_pipeline.registry import AgentEntry
from eval_pipeline.results import outcomes as stored
from eval_pipeline.results import runs
from eval_pipeline.results.database import Database
from eval_pipeline.results.lease import Share
from eval_pipeline.results.runs import AgentRow
from eval_pipeline.rules import attestation
from eval_pipeline.settings import settings
from eval_pipeline.shard import Shard
from eval_pipeline.suite import AgentSuite

POOL = "agents"
"""The pool that bounds how many shards run at once in the whole deployment."""
TRIES = 2
"""How often a shard is tried, where there are several, before the run goes on without it."""
WAIT_S = 2.0
"""Seconds between two tries."""

_NOTHING = dg.In(dg.Nothing)


def outcomes_asset(
    entry: AgentEntry, suite: AgentSuite | None, asset_key: dg.AssetKey, dataset: dg.AssetKey
) -> dg.AssetsDefinition:
    """The asset of one agent's outcomes, behind its dataset; ``suite`` is None when that cannot be read."""
    check = dg.AssetCheckSpec(attestation.RULE, asset=asset_key, description=attestation.WHY)
    plan, run, collect = _plan(entry), _run(entry), _collect(entry, asset_key)

    @dg.graph_asset(
        key=asset_key,
        ins={"dataset": dg.AssetIn(dataset, dagster_type=dg.Nothing)},
        check_specs=[check],
        group_name=entry.name,
        code_version=suite.code_version(model_name(settings().model)) if suite else "unreadable",
        metadata=code_links(outcome_sources(entry)),
        kinds={"langgraph"},
        description=f"What the real graph of {entry.name} made of each example, kept in the results database.",
    )
    def outcomes(dataset: object) -> dict[str, object]:
        made, attested = collect(plan(dataset).map(run).collect())
        return {"result": made, check.get_python_identifier(): attested}

    return outcomes


def _plan(entry: AgentEntry) -> dg.OpDefinition:
    @dg.op(
        name=f"plan_{entry.name}",
        ins={"dataset": _NOTHING},
        out=dg.DynamicOut(dg.Nothing),
        description="Records the run and cuts the agent's examples into shards.",
    )
    def plan(context: dg.OpExecutionContext, request: RunRequest) -> Iterator[dg.DynamicOutput[None]]:
        with request.database() as database:
            made = request.plan(context, database)
            shards = begin_agent(database, made, entry.name, context.run_id, request.n_shards)
        for shard in shards:
            yield dg.DynamicOutput(None, mapping_key=shard.key)

    return plan


def _run(entry: AgentEntry) -> dg.OpDefinition:
    @dg.op(
        name=f"run_{entry.name}",
        ins={"shard": _NOTHING},
        out=dg.Out(dg.Nothing),
        pool=POOL,
        description="Brings the examples of one shard to stored outcomes; tried again, it runs only what is missing.",
    )
    def run(context: dg.OpExecutionContext, request: RunRequest) -> None:
        end_with_the_run()
        shard = Shard.of_key(context.get_mapping_key() or "")
        with request.database() as database, WATCH.interruptible():
            try:
                _run_shard(context, request, database, entry.name, shard)
            except Exception as error:
                if shard.of == 1:
                    raise
                _try_again_or_tell(context, request, database, entry.name, shard, error)

    return run


def _run_shard(
    context: dg.OpExecutionContext, request: RunRequest, database: Database, agent: str, shard: Shard
) -> None:
    plan = request.plan(context, database)
    stop = run_ended(context)
    share = Share(context.run_id, shard)
    for item in plan.of_agent(agent):
        found = run_one_agent(database, plan, item.name, settings(), share=share, should_stop=stop, report=WATCH.report)
        if found:
            _note(database, plan.run_id, item.name, shard, attestation.substituted(found))
    if WATCH.interrupted.is_set() and not WATCH.goes_on:
        raise dg.Failure(f"interrupted: what shard {shard.key} of {agent} has finished is kept")


def _note(database: Database, run_id: str, agent: str, shard: Shard, told: str) -> None:
    """Notes what a shard found on the agent's row, unless the row says it already; ``collect`` reads it there."""
    (row,) = (row for row in runs.agents(database, run_id) if row.agent == agent)
    if not any(told in problem for problem in row.problems):
        runs.add_problem(database, run_id, agent, f"{SHARD_PROBLEM} {shard.key}: {told}")


def _try_again_or_tell(
    context: dg.OpExecutionContext, request: RunRequest, database: Database, agent: str, shard: Shard, error: Exception
) -> None:
    """One shard that cannot be run takes neither the other ones nor the board away: its agent's row is red and says so.

    What it did not run has no outcome, so the board is not whole, and whoever resumes the run runs it.
    """
    if context.retry_number + 1 < TRIES:
        raise dg.RetryRequested(TRIES - 1, WAIT_S) from error
    told = f"could not be run: {one_line(error)}"
    context.log.exception(f"shard {shard.key} of {agent} {told}")
    run_id = request.root_run(context, database)
    for row in _rows(database, run_id, agent):
        _note(database, run_id, row.agent, shard, told)


def _rows(database: Database, run_id: str, agent: str) -> list[AgentRow]:
    """The rows of a registered agent in a run: its own, and those of packs."""
    return [row for row in runs.agents(database, run_id) if row.agent.partition("@")[0] == agent]


def _collect(entry: AgentEntry, asset_key: dg.AssetKey) -> dg.OpDefinition:
    @dg.op(
        name=f"collect_{entry.name}",
        ins={"shards": _NOTHING},
        out={"made": dg.Out(dg.Nothing), "attested": dg.Out(dg.Nothing)},
        description="Looks at what the shards left: how much, its digest, and whose reasoning it was.",
    )
    def collect(context: dg.OpExecutionContext, request: RunRequest) -> Iterator[dg.Output[None] | dg.AssetCheckResult]:
        with request.database() as database:
            run_id = request.root_run(context, database)
            version, n_outcomes = stored.version(database, run_id, entry.name)
            mine = _rows(database, run_id, entry.name)
            told = [problem for row in mine for problem in row.problems if attestation.SUBSTITUTED in problem]
            refused = stored.failures(database, run_id, entry.name, attestation.SUBSTITUTED)
            wanted = sum(row.n_selected for row in mine if row.agent == entry.name) * runs.get(database, run_id).trials
        metadata: dict[str, Any] = {"n_outcomes": n_outcomes, "root_run": run_id, "partial": n_outcomes < wanted}
        context.set_data_version(asset_key, dg.DataVersion(version))
        yield dg.Output(None, "made", metadata=metadata)
        yield told_check(asset_key, attestation.RULE, [*told, *refused])

    return collect
