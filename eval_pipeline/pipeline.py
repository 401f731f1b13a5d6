"""One run from its request to its board, step by step. The command line and the Dagster assets call the same steps.

Outcomes belong to the *root* run: a resumed run has a Dagster run of its own and writes beside what its root left.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval_pipeline.board import Board, build_board
from eval_pipeline.dataset import Example
from eval_pipeline.errors import ConfigError, ResumeRefused
from eval_pipeline.gate import GateDecision, decide_gate
from eval_pipeline.grading import score_agent
from eval_pipeline.langsmith_tracing import tracing_of_a_run
from eval_pipeline.packs import load_packs, packs_of
from eval_pipeline.results import boards, outcomes, runs, scores
from eval_pipeline.results.database import Database
from eval_pipeline.results.lease import Share, held_agent
from eval_pipeline.results.runs import AgentRow, RunRow
from eval_pipeline.rules import Offence
from eval_pipeline.rules.liveness import RULE as LIVENESS
from eval_pipeline.rules.liveness import dead_expectations, passed_examples
from eval_pipeline.rules.static import unregistered
from eval_pipeline.run import Progress, Work, run_agent
from eval_pipeline.selection import Selection, require_some, selected
from eval_pipeline.settings import Settings
from eval_pipeline.shard import Shard, cut
from eval_pipeline.suite import AgentSuite, load_suite
from eval_pipeline.target import RunContext
from eval_pipeline.verdict import Verdict
from eval_pipeline.workers import Limits

DEAD_SHOWN = 5
"""Dead expectations that a board names of one agent; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a run. ``resume`` is the id of a run whose root is continued.

    ``trials`` None is once, or as often as the run that is continued.
    """

    selection: Selection = Selection()
    model: str | None = None
    trials: int | None = None
    resume: str | None = None
    retry_errors: bool = False
    packs: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A run before it starts: its root id, the agents with their suites, and the chosen examples by agent."""

    run_id: str
    request: Request
    suite: tuple[AgentSuite, ...]
    chosen: Mapping[str, tuple[Example, ...]]

    def of_agent(self, name: str) -> tuple[AgentSuite, ...]:
        """The agent's own examples, and those that packs have for it."""
        return tuple(item for item in self.suite if item.entry.name == name)

    @property
    def trials(self) -> int:
        """How often each example is run."""
        return 1 if self.request.trials is None else self.request.trials

    def agent(self, name: str) -> AgentSuite:
        """One agent's suite. Raises ConfigError when the run does not have it."""
        for item in self.suite:
            if item.name == name:
                return item
        raise ConfigError(f"agent {name!r} is not part of run {self.run_id}")


def make_plan(database: Database, run_id: str, request: Request, settings: Settings) -> Plan:
    """Loads the suite and chooses the examples.

    Raises DatasetError for a dataset that cannot be read, ConfigError for a selection that matches nothing,
    ResumeRefused when the run to resume had other data, code, model or trials.
    """
    if request.trials is not None and request.trials < 1:
        raise ConfigError(f"--trials {request.trials}: at least 1 is needed")
    if request.retry_errors and request.resume is None:
        raise ConfigError("--retry-errors says what to run again of a run: name the run with --resume")
    suite = load_suite(settings.datasets, request.selection.agents)
    suite = (*suite, *load_packs(suite, request.packs, settings.datasets))
    last = _last_verdicts(database, suite, run_id) if request.selection.last else {}
    chosen = {item.name: selected(request.selection, item, last.get(item.name)) for item in suite}
    require_some(request.selection, chosen)
    plan = Plan(run_id, request, tuple(item for item in suite if chosen[item.name]), chosen)
    if runs.exists(database, run_id):
        _require_same(database, plan)
    return plan


def _last_verdicts(database: Database, suite: tuple[AgentSuite, ...], run_id: str) -> dict[str, dict[str, str]]:
    """The verdicts of the run before this one: a run that has begun, or goes on, must not look at itself."""
    last = runs.before(database, run_id).run_id
    return {
        item.name: {row.example_id: row.decision.verdict.value for row in scores.read(database, last, item.name)}
        for item in suite
    }


def root_of(database: Database, resume: str) -> str:
    """The root run that a resume of ``resume`` belongs to. Raises ConfigError when there is no such run."""
    return runs.get(database, resume).run_id


def resumed(database: Database, request: Request) -> Request:
    """The request that continues a run: what was asked for then, with the resume of now.

    Raises ResumeRefused when the call asks for something else than the run did.
    """
    if request.resume is None:
        return request
    run = runs.get(database, request.resume)
    before = run.selection
    if request.selection != Selection():
        raise ResumeRefused("a resumed run has the selection of its root: leave out the selection")
    for name, now, then in (("model", request.model, run.model), ("trials", request.trials, run.trials)):
        if now != then and now is not None:
            raise ResumeRefused(f"run {run.run_id} had {name} {then}, not {now}: start a new run")
    selection = Selection(tuple(before["select"]), tuple(before["tags"]), before["last"], before["limit"])
    packs = tuple(Path(item) for item in before["packs"])
    if request.packs and set(request.packs) != set(packs):
        then = ", ".join(map(str, packs)) or "none"
        raise ResumeRefused(f"a resumed run has the packs of its root ({then}): leave out --pack")
    return Request(selection, run.model, run.trials, run.run_id, request.retry_errors, packs)


def _require_same(database: Database, plan: Plan) -> None:
    run = runs.get(database, plan.run_id)
    if run.model != plan.request.model or run.trials != plan.trials:
        raise ResumeRefused(f"run {run.run_id} had another model or number of trials: start a new run")
    rows = {row.agent: row for row in runs.agents(database, plan.run_id)}
    for item in plan.suite:
        row = rows.get(item.name)
        if row is None:
            continue
        if row.dataset_digest != item.dataset.digest:
            raise ResumeRefused(f"the dataset of {item.name} has changed since run {run.run_id}: start a new run")
        if row.code_version != item.code_version(run.model):
            raise ResumeRefused(f"the code of {item.name} has changed since run {run.run_id}: start a new run")


def start(database: Database, plan: Plan) -> None:
    """Records the run and its agents; of a run that is there already only that it goes on."""
    request = plan.request
    asked = {
        **request.selection.as_json(),
        "packs": [str(folder) for folder in request.packs],
        "agents": [item.name for item in plan.suite],
    }
    run = RunRow(
        plan.run_id,
        datetime.now(UTC),
        request.selection.below_a_whole_agent,
        request.model,
        plan.trials,
        asked,
    )
    whole = not request.selection.select
    strays = [AgentRow(item.agent, "", "none", 0, 0, problems=(item.message,)) for item in unregistered() if whole]
    runs.start(database, run, [*(_row(plan, item) for item in plan.suite), *strays])


def _row(plan: Plan, item: AgentSuite) -> AgentRow:
    version = item.code_version(plan.request.model)
    n_selected = len(plan.chosen[item.name])
    return AgentRow(item.name, item.dataset.digest, version, len(item.dataset.examples), n_selected)


SHARD_PROBLEM = "shard"
"""How the problem of a row begins that says which shard could not be run."""


def begin_agent(database: Database, plan: Plan, agent: str, holder: str, n_shards: int) -> tuple[Shard, ...]:
    """Records the run, and prepares one registered agent's share of it, packs included; gives the shards to run.

    Errors that are to be retried are forgotten here, once, so that no shard forgets what another has just stored.
    Raises RunIsBusy when another holder has outcomes of the agent.
    """
    start(database, plan)
    mine = plan.of_agent(agent)
    for item in mine:
        with held_agent(database, plan.run_id, item.name, holder):
            runs.replace_problems(database, plan.run_id, item.name, SHARD_PROBLEM, [])
            if plan.request.retry_errors:
                outcomes.drop_failed(database, plan.run_id, item.name)
    return cut(n_shards, max((len(plan.chosen[item.name]) for item in mine), default=0))


def run_one_agent(
    database: Database,
    plan: Plan,
    agent: str,
    settings: Settings,
    *,
    share: Share | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    report: Callable[[Progress], None] = lambda _: None,
) -> tuple[Offence, ...]:
    """Brings every trial of one agent to a stored outcome, or those of one share of it. See ``run.run_agent``.

    A share was prepared by ``begin_agent``, which has forgotten the errors that are to be retried.
    """
    suite = plan.agent(agent)
    own = suite.target.timeout_s if suite.target else 60.0
    ledger = settings.ledger_url.get_secret_value() if settings.ledger_url else None
    context = RunContext(plan.run_id, ledger, plan.request.model)
    at_once = suite.target.at_once(context) if suite.target else None
    concurrency = min(settings.concurrency, at_once or settings.concurrency)
    limits = Limits(concurrency, settings.timeout_s or own, settings.max_output_bytes)
    examples = plan.chosen[agent] if share is None else share.shard.share(plan.chosen[agent])
    retry_errors = plan.request.retry_errors and share is None
    work = Work(suite, examples, context, limits, plan.trials, retry_errors, share)
    with tracing_of_a_run():
        return run_agent(work, database, should_stop=should_stop, report=report)


def score_agents(database: Database, run_id: str, settings: Settings, only: Sequence[str] = ()) -> None:
    """Scores the stored outcomes of a run with the evaluators of now: all its agents, or those named, and their packs.

    Raises ConfigError for a run or an agent that is not there.
    """
    run = runs.get(database, run_id)
    there = {row.agent for row in runs.agents(database, run.run_id) if row.n_selected}
    names = only or tuple(dict.fromkeys(name.partition("@")[0] for name in sorted(there)))
    suite = load_suite(settings.datasets, names)
    for item in (*suite, *load_packs(suite, packs_of(run.selection), settings.datasets)):
        if item.name in there:
            score_agent(item, database, run.run_id)
            note_dead_expectations(database, run.run_id, item)


def gate_of(database: Database, run_id: str, settings: Settings, *, strict: bool) -> GateDecision:
    """The release decision for a run, by what is here now. Raises ConfigError when there is no such run."""
    return decide_gate(
        database,
        suite_of_gate(database, run_id, settings),
        run_id,
        strict=strict,
        allowed_endpoints=settings.allowed_endpoints,
        packs_count=settings.packs_count,
    )


def suite_of_gate(database: Database, run_id: str, settings: Settings) -> tuple[AgentSuite, ...]:
    """What a gate compares a run with: all agents; where packs count, also those of now and those of the run."""
    suite = load_suite(settings.datasets)
    if not settings.packs_count:
        return suite
    of_run = packs_of(runs.get(database, run_id).selection)
    folders = dict.fromkeys((*settings.pack_folders, *of_run))
    return (*suite, *load_packs(suite, tuple(folders), settings.datasets))


def passed_of(database: Database, run_id: str, suite: AgentSuite) -> tuple[tuple[Example, Mapping[str, Any]], ...]:
    """The examples of an agent that passed in a run, with their stored outputs."""
    graded = scores.read(database, run_id, suite.name)
    passed = frozenset(item.example_id for item in graded if item.decision.verdict is Verdict.PASS)
    return tuple(passed_examples(suite, outcomes.read(database, run_id, suite.name), passed)) if passed else ()


def note_dead_expectations(database: Database, run_id: str, suite: AgentSuite) -> None:
    """Makes the agent's row of the board red, with their names, while there are dead expectations."""
    found = tuple(dead_expectations(suite, passed_of(database, run_id, suite)))
    told = [f"{LIVENESS}: {offence}" for offence in found[:DEAD_SHOWN]]
    if len(found) > DEAD_SHOWN:
        told.append(f"{LIVENESS}: {len(found) - DEAD_SHOWN} more (eval-pipeline prove)")
    runs.replace_problems(database, run_id, suite.name, LIVENESS, told)


def publish_board(database: Database, run_id: str, *, interrupted: bool = False, packs_count: bool = False) -> Board:
    """Records that the run came to its end, builds its board from what is stored, and keeps it."""
    runs.finish(database, run_id, interrupted=interrupted)
    board = build_board(database, run_id, packs_count=packs_count)
    boards.add(database, board.run_id, board.state.value, board.as_text(), partial=board.partial)
    return board
