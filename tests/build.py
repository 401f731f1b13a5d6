"""Builders with good defaults: a test says only what it is about."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from eval_pipeline.attempt import Task
from eval_pipeline.dataset import Dataset, Example, KnownDefect
from eval_pipeline.evaluator import Evaluator, ScoreKey, evaluator, exact
from eval_pipeline.outcome import Failure, FailureKind, Outcome, Status
from eval_pipeline.registry import AgentEntry
from eval_pipeline.results import runs
from eval_pipeline.results.database import Database
from eval_pipeline.results.runs import AgentRow, RunRow
from eval_pipeline.suite import AgentSuite
from eval_pipeline.target import RunContext, RunOne, Target
from eval_pipeline.verdict import Score, Trial

AGENT = "sampler"
RUN = "run-1"
NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
ENTRY = AgentEntry(AGENT, "tests.build", "tests.build", "tests.build")


class SampleOutputs(TypedDict):
    """What the agent of these tests returns."""

    answer: str
    n_steps: int


def example_json(id: str = "example-1", **changes: Any) -> dict[str, Any]:
    """An example as it stands in a file."""
    return {"id": id, "inputs": {"question": "how much"}, "expected": {"answer": "four"}} | changes


def example(id: str = "example-1", **changes: Any) -> Example:
    """An example; ``known_defects`` may be markers."""
    return Example.model_validate(example_json(id, **changes))


def marker(*keys: str, **changes: Any) -> KnownDefect:
    """A known defect of these score keys (of ``answer_correct`` when none is named)."""
    keys = keys or ("answer_correct",)
    return KnownDefect.model_validate({"keys": keys, "reason": "a known weakness"} | changes)


def grader(
    key: str | ScoreKey = "answer_correct", reads: str = "answer", may_read: Sequence[str] = (), name: str = ""
) -> Evaluator:
    """An evaluator that compares the output of the name that it reads."""

    def compare(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Score]:
        yield Score(key if isinstance(key, str) else key.name, exact(outputs.get(reads), expected[reads]))

    compare.__name__ = name or f"compares_{reads}"
    return evaluator(reads={reads}, scores={key}, may_read=may_read)(compare)


def returning(*returned: Any, scores: Sequence[str] = ("answer_correct",)) -> Evaluator:
    """An evaluator that reads ``answer`` and returns what it is told, whatever that is."""

    def says(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> list[Any]:
        return list(returned)

    return evaluator(reads={"answer"}, scores=scores)(says)


def raising(error: BaseException) -> Evaluator:
    """An evaluator that reads ``answer`` and raises."""

    def raises(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> list[Score]:
        raise error

    return evaluator(reads={"answer"}, scores={"answer_correct"})(raises)


def right(inputs: Mapping[str, Any], attempt: object) -> dict[str, Any]:
    """A target's function that always answers what is expected by default."""
    return {"answer": "four", "n_steps": 1}


def target(run_one: RunOne = right, **changes: Any) -> Target:
    """A target that runs a plain function and needs nothing."""

    @contextmanager
    def opened(context: RunContext) -> Iterator[RunOne]:
        yield run_one

    return Target(**{"agent": AGENT, "outputs": SampleOutputs, "open": opened, "requires": lambda inputs: ()} | changes)


def dataset(*examples: Example, folder: Path = Path("datasets/sampler")) -> Dataset:
    """A dataset of these examples, all from one file."""
    found = examples or (example(),)
    return Dataset(AGENT, folder, found, {item.id: folder / "cases.json" for item in found})


def suite(*examples: Example, **changes: Any) -> AgentSuite:
    """An agent with a dataset of these examples, a target, and one evaluator."""
    defaults = {
        "entry": ENTRY,
        "dataset": dataset(*examples),
        "target": target(),
        "evaluators": (grader(),),
    }
    return AgentSuite(**defaults | changes)


def outcome(example_id: str = "example-1", **changes: Any) -> Outcome:
    """A completed outcome with the right answer; ``of`` an example takes its inputs' digest from the dataset."""
    given: dict[str, Any] = {
        "run_id": RUN,
        "agent": AGENT,
        "example_id": example_id,
        "trial": 0,
        "position": 0,
        "status": Status.COMPLETED,
        "inputs_digest": dataset().inputs_digest(example()),
        "started_at": NOW,
        "seconds": 0.5,
    } | changes
    if given["status"] is Status.COMPLETED:
        given.setdefault("outputs", {"answer": "four", "n_steps": 1})
    if given["status"] is Status.FAILED:
        given.setdefault("failure", Failure(FailureKind.RAISED, "ValueError: boom"))
    if given["status"] is Status.SKIPPED:
        given.setdefault("skip_reason", "no model")
    return Outcome(**given)


def task(example_id: str = "example-1", **changes: Any) -> Task:
    """A task for the workers."""
    given = {"run_id": RUN, "agent": AGENT, "trial": 0, "position": 0, "inputs": {}, "inputs_digest": "0" * 64}
    return Task(example_id=example_id, **given | changes)


def trial(outputs: Mapping[str, Any] | None = None, error: str | None = None, **scores: float) -> Trial:
    """A trial with these scores by key."""
    given = {} if outputs is None else outputs
    return Trial(tuple(Score(key, value) for key, value in scores.items()), given, error)


def write_dataset(folder: Path, *examples: Mapping[str, Any], agent: str = AGENT, name: str = "cases.json") -> Path:
    """Writes one file of a dataset and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(json.dumps({"agent": agent, "examples": list(examples) or [example_json()]}), "utf-8")
    return file


def run_row(**changes: Any) -> RunRow:
    """A whole run of one agent."""
    given = {"partial": False, "model": None, "trials": 1, "selection": {"agents": [AGENT]}}
    return RunRow(**{"run_id": RUN, "created_at": NOW} | given | changes)


def agent_row(**changes: Any) -> AgentRow:
    """The sample agent's share of a run, of one example."""
    given = {"agent": AGENT, "dataset_digest": "d1", "code_version": "c1", "n_examples": 1, "n_selected": 1}
    return AgentRow(**given | changes)


def start_run(database: Database, *agents: AgentRow, **changes: Any) -> None:
    """Records a run in an empty results database."""
    runs.start(database, run_row(**changes), agents or (agent_row(),))
