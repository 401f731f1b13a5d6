"""Running: one agent's selected examples through its target, every finished outcome durable at once.

Nothing is graded here. What ends up stored for each trial is an outcome: completed, failed or skipped. Running again
with the same run id runs only what has no outcome yet; that is all that resuming means.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

from eval_pipeline.attempt import Task
from eval_pipeline.dataset import Example
from eval_pipeline.errors import one_line
from eval_pipeline.outcome import FailureKind, Outcome, Status
from eval_pipeline.results import outcomes
from eval_pipeline.results.database import Database
from eval_pipeline.rules.static import offences
from eval_pipeline.suite import AgentSuite
from eval_pipeline.target import Prerequisite, RunContext, Target
from eval_pipeline.workers import Limits, run_tasks
from eval_pipeline.writer import OutcomeWriter


@dataclass(frozen=True)
class Work:
    """One agent's share of a run: these examples, this often, within these limits."""

    suite: AgentSuite
    examples: tuple[Example, ...]
    context: RunContext
    limits: Limits
    trials: int = 1


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
    stored: int
    report: Callable[[Progress], None]
    failed: int = 0
    skipped: int = 0

    def __call__(self, batch: list[Outcome]) -> None:
        self.stored += len(batch)
        self.failed += sum(outcome.status is Status.FAILED for outcome in batch)
        self.skipped += sum(outcome.status is Status.SKIPPED for outcome in batch)
        self.report(Progress(self.agent, self.stored, self.of, self.failed, self.skipped))


@dataclass
class _Probes:
    """Answers of prerequisites, each probed once a run."""

    context: RunContext
    answers: dict[Prerequisite, str | None] = field(default_factory=dict)

    def missing(self, needed: tuple[Prerequisite, ...]) -> str | None:
        for item in needed:
            if item not in self.answers:
                self.answers[item] = item.missing(self.context)
            if self.answers[item] is not None:
                return self.answers[item]
        return None


def run_agent(
    work: Work,
    database: Database,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    report: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Brings every trial of ``work`` that has no stored outcome to one, or stops early when told to.

    Raises ResultsUnavailable when outcomes cannot be stored; whatever an agent does ends up in its outcomes instead.
    """
    done = outcomes.finished(database, work.context.run_id, work.suite.name)
    tasks = [task for task in _tasks(work) if (task.example_id, task.trial) not in done]
    counter = _Counter(work.suite.name, len(work.examples) * work.trials, len(done), report)
    with OutcomeWriter(database.url, counter) as writer:
        refusal = _refusal(work.suite)
        if refusal is not None:
            _emit_all(tasks, writer, lambda task: task.failed(*refusal))
        elif work.suite.not_installed is not None:
            reason = work.suite.not_installed
            _emit_all(tasks, writer, lambda task: task.outcome(Status.SKIPPED, skip_reason=reason))
        elif work.suite.target is not None:
            _run(work, work.suite.target, tasks, writer, should_stop)


def _refusal(suite: AgentSuite) -> tuple[FailureKind, str] | None:
    """Why nothing of this agent may run: it cannot be imported, or its dataset breaks a static rule."""
    if suite.broken is not None:
        return FailureKind.IMPORT, suite.broken
    broken = offences(suite)
    if not broken:
        return None
    more = f" (and {len(broken) - 1} more: eval-pipeline check)" if len(broken) > 1 else ""
    return FailureKind.REFUSED, f"refused by the rule {broken[0].rule}: {broken[0]}{more}"


def _emit_all(tasks: list[Task], writer: OutcomeWriter, outcome: Callable[[Task], Outcome]) -> None:
    for task in tasks:
        writer.put(outcome(task))


def _run(work: Work, target: Target, tasks: list[Task], writer: OutcomeWriter, should_stop: Callable[[], bool]) -> None:
    probes = _Probes(work.context)
    ready: list[Task] = []
    for task in tasks:
        reason = probes.missing(target.requires(task.inputs))
        if reason is None:
            ready.append(task)
        else:
            writer.put(task.outcome(Status.SKIPPED, skip_reason=reason))
    if not ready:
        return
    landed: set[tuple[str, int]] = set()

    def emit(outcome: Outcome) -> None:
        landed.add((outcome.example_id, outcome.trial))
        writer.put(outcome)

    try:
        with target.open(work.context) as run_one:
            run_tasks(ready, run_one, work.limits, emit, on_loop=target.runs == "loop", should_stop=should_stop)
    except Exception as error:  # opening or closing a target may raise anything; nobody's example may vanish with it
        if writer.failed:
            raise
        left = [task for task in ready if (task.example_id, task.trial) not in landed]
        message = f"the target could not be opened or closed: {one_line(error)}"
        _emit_all(left, writer, lambda task: task.failed(FailureKind.RAISED, message))
        if not left:
            raise


def _tasks(work: Work) -> Iterator[Task]:
    dataset = work.suite.dataset
    positions = {example.id: position for position, example in zip(count(), dataset.examples, strict=False)}
    for example in work.examples:
        digest = dataset.inputs_digest(example)
        for trial in range(work.trials):
            yield Task(
                work.context.run_id,
                work.suite.name,
                example.id,
                trial,
                positions[example.id],
                dataset.inputs(example),
                digest,
            )
