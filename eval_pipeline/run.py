"""Running: one agent's selected examples through its target, every finished outcome durable at once.

Nothing is graded here. What ends up stored for each trial is an outcome: completed, failed or skipped. Running again
with the same run id runs only what has no outcome yet; that is all that resuming means.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from eval_pipeline.attempt import Task
from eval_pipeline.dataset import Example
from eval_pipeline.errors import one_line
from eval_pipeline.guard import guarded_by
from eval_pipeline.outcome import FailureKind, Outcome, Status
from eval_pipeline.printed import nothing_on_stdout
from eval_pipeline.results import outcomes, runs
from eval_pipeline.results.database import Database
from eval_pipeline.results.lease import Share
from eval_pipeline.rules.attestation import RULE as ATTESTATION
from eval_pipeline.rules.attestation import Attestation, substituted
from eval_pipeline.rules.rule import Offence
from eval_pipeline.rules.static import offences
from eval_pipeline.shard import WHOLE
from eval_pipeline.suite import AgentSuite
from eval_pipeline.target import Prerequisite, RunContext, RunOne, Target
from eval_pipeline.workers import Limits, Opening, run_tasks
from eval_pipeline.writer import OutcomeWriter

Done = frozenset[tuple[str, int]]
"""Trials that have a stored outcome: example id and number of the trial."""


@dataclass(frozen=True)
class Work:
    """One agent's share of a run: these examples, in the order of the dataset, this often, within these limits.

    ``share`` says who runs them and which shard of the agent's examples they are; None for all, run by nobody else.
    """

    suite: AgentSuite
    examples: tuple[Example, ...]
    context: RunContext
    limits: Limits
    trials: int = 1
    retry_errors: bool = False
    share: Share | None = None

    @property
    def label(self) -> str:
        """What its progress is told under: the agent, and the shard when there are several."""
        shard = self.share.shard if self.share is not None else WHOLE
        return self.suite.name if shard == WHOLE else f"{self.suite.name} {shard.key.replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an agent is. ``stored`` counts durable outcomes only, so it never overstates."""

    agent: str
    stored: int
    of: int
    failed: int
    skipped: int


@dataclass
class _Counter:
    agent: str
    of: int
    report: Callable[[Progress], None]
    stored: int = 0
    failed: int = 0
    skipped: int = 0

    def __call__(self, batch: list[Outcome]) -> None:
        self.stored += len(batch)
        self.failed += sum(outcome.status is Status.FAILED for outcome in batch)
        self.skipped += sum(outcome.status is Status.SKIPPED for outcome in batch)
        self.report(Progress(self.agent, self.stored, self.of, self.failed, self.skipped))


class _Probes:
    """Answers of prerequisites, each probed once a run."""

    def __init__(self, target: Target, context: RunContext) -> None:
        self._target, self._context = target, context
        self._answers: dict[Prerequisite, str | None] = {}

    def missing(self, inputs: Mapping[str, Any]) -> str | None:
        """Why an example with these inputs cannot run; None when all that it needs is there."""
        for item in self._target.requires(inputs):
            if item not in self._answers:
                self._answers[item] = item.missing(self._context)
            if self._answers[item] is not None:
                return self._answers[item]
        return None


def run_agent(
    work: Work,
    database: Database,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    report: Callable[[Progress], None] = lambda _: None,
) -> tuple[Offence, ...]:
    """Brings every trial of ``work`` that has no stored outcome to one, or stops early when told to.

    Gives what of the agent's reasoning was not the one on disk, at the start (then nothing ran) or at the end.

    Raises ResultsUnavailable when outcomes cannot be stored, RunIsBusy when another process is at it; whatever an agent
    does ends up in its outcomes instead.
    """
    run_id, name = work.context.run_id, work.suite.name
    counter = _Counter(work.label, len(work.examples) * work.trials, report)
    with OutcomeWriter(database.url, run_id, name, counter, work.share, should_stop) as writer:
        if not writer.is_owner:
            return ()
        if work.retry_errors:
            outcomes.drop_failed(database, run_id, name)
        done = _done(work, database)
        counter.stored = len(done)
        refusal = _refusal(work.suite)
        attestation = Attestation.of(work.suite) if refusal is None and work.suite.target is not None else None
        found = _differences(attestation)
        if refusal is None and found:
            refusal = FailureKind.REFUSED, substituted(found)
        if refusal is not None:
            _emit_all(_tasks(work, done), writer, lambda task: task.failed(*refusal))
        elif work.suite.not_installed is not None:
            reason = work.suite.not_installed
            _emit_all(_tasks(work, done), writer, lambda task: task.outcome(Status.SKIPPED, skip_reason=reason))
        elif work.suite.target is not None and attestation is not None:
            with guarded_by(attestation):
                _run(work, work.suite.target, done, writer, should_stop)
            found = _differences(attestation)
            if found:  # for good: what is stored by now may come from a substitute
                runs.replace_problems(database, run_id, name, ATTESTATION, [f"{ATTESTATION}: {substituted(found)}"])
    return found


def _done(work: Work, database: Database) -> Done:
    """The trials of these examples that have a stored outcome."""
    mine = frozenset(example.id for example in work.examples)
    stored = outcomes.finished(database, work.context.run_id, work.suite.name)
    return frozenset(trial for trial in stored if trial[0] in mine)


def _differences(attestation: Attestation | None) -> tuple[Offence, ...]:
    return attestation.differences() if attestation is not None else ()


def _refusal(suite: AgentSuite) -> tuple[FailureKind, str] | None:
    """Why nothing of this agent may run: it cannot be imported, or its dataset breaks a static rule."""
    if suite.broken is not None:
        return FailureKind.IMPORT, suite.broken
    broken = offences(suite)
    if not broken:
        return None
    more = f" (and {len(broken) - 1} more: eval-pipeline check)" if len(broken) > 1 else ""
    return FailureKind.REFUSED, f"refused by the rule {broken[0].rule}: {broken[0]}{more}"


def _emit_all(tasks: Iterable[Task], writer: OutcomeWriter, outcome: Callable[[Task], Outcome]) -> None:
    for task in tasks:
        writer.put(outcome(task))


def _run(work: Work, target: Target, done: Done, writer: OutcomeWriter, should_stop: Callable[[], bool]) -> None:
    probes = _Probes(target, work.context)
    _probe_all(work, probes, done)
    ready = _ready(_tasks(work, done), probes, writer)
    first = next(ready, None)
    if first is None:  # nothing can run: the target is not even opened
        return
    ready = chain((first,), ready)
    with ExitStack() as stack:
        try:
            run_one = _opened(work, target, stack)
        except Exception as error:  # opening a target may raise anything; nobody's example may vanish with it
            message = f"the target could not be opened: {one_line(error)}"
            _emit_all(ready, writer, lambda task: task.failed(FailureKind.RAISED, message))
            return
        stack.enter_context(nothing_on_stdout())
        run_tasks(ready, run_one, work.limits, writer.put, on_loop=target.runs == "loop", should_stop=should_stop)


def _opened(work: Work, target: Target, stack: ExitStack) -> RunOne | Opening:
    """The target's function, open for as long as the stack; of one that runs in processes, what these open it by."""
    if target.runs == "process":
        return Opening.of(target.open, work.context, work.limits.max_output_bytes)
    return stack.enter_context(target.open(work.context))


def _probe_all(work: Work, probes: _Probes, done: Done) -> None:
    """Probes all that the examples which are still to run need, before the target starts."""
    for example in work.examples:
        if any((example.id, trial) not in done for trial in range(work.trials)):
            with suppress(Exception):  # said of each of its examples by ``_ready``
                probes.missing(work.suite.dataset.inputs(example))


def _ready(tasks: Iterable[Task], probes: _Probes, writer: OutcomeWriter) -> Iterator[Task]:
    """The tasks that can run; the others get their outcome at once."""
    for task in tasks:
        try:
            reason = probes.missing(task.inputs)
        except Exception as error:  # a target's own code; an example whose needs cannot be told is in ERROR
            message = f"what the example needs cannot be told: {one_line(error)}"
            writer.put(task.failed(FailureKind.RAISED, message))
            continue
        if reason is None:
            yield task
        else:
            writer.put(task.outcome(Status.SKIPPED, skip_reason=reason))


def _tasks(work: Work, done: Done) -> Iterator[Task]:
    """What is still to run, made one by one: a run holds no more of it than is in flight."""
    dataset, context = work.suite.dataset, work.context
    chosen = iter(work.examples)
    wanted = next(chosen, None)
    for position, example in enumerate(dataset.examples):  # both are in the order of the dataset
        if wanted is None or example.id != wanted.id:
            continue
        for trial in range(work.trials):
            if (example.id, trial) not in done:
                yield Task(
                    context.run_id,
                    work.suite.name,
                    example.id,
                    trial,
                    position,
                    dataset.inputs(example),
                    dataset.inputs_digest(example),
                )
        wanted = next(chosen, None)
