"""A run published as experiments at LangSmith, one for each agent: attempts beside their examples, scores as feedback.

Everything has a derived id: publishing again updates what is there. What goes out is masked before.
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eval_pipeline.batches import batches
from eval_pipeline.dataset import Dataset
from eval_pipeline.errors import ConfigError
from eval_pipeline.langsmith_copy import dataset_name, find
from eval_pipeline.langsmith_runs import Feedback, RunRow, feedback_of, runs_of
from eval_pipeline.langsmith_service import ServiceError, told
from eval_pipeline.masking import mask
from eval_pipeline.outcome import Outcome
from eval_pipeline.results import experiments, outcomes, runs, scores
from eval_pipeline.results.database import Database
from eval_pipeline.results.runs import AgentRow
from eval_pipeline.results.runs import RunRow as Run
from eval_pipeline.results.scores import Graded
from eval_pipeline.values import text_of_json

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import TracerSession

SENT_AT_ONCE = 8 * 1024 * 1024
"""Bytes of one request; the service takes 20 MB."""
PAGE = 100


@dataclass
class Losses:
    """What the SDK could not send in the background: it tells a function, and goes on."""

    errors: list[Exception] = field(default_factory=list)

    def __call__(self, error: Exception) -> None:
        """Is told of one."""
        self.errors.append(error)

    def require_none(self) -> None:
        """Raises ServiceError when something was lost."""
        if self.errors:
            kinds = ", ".join(sorted({type(error).__name__ for error in self.errors}))
            raise ServiceError(f"LangSmith did not take all of it: {len(self.errors)} requests were lost ({kinds})")


@dataclass(frozen=True, slots=True)
class Published:
    """One agent's experiment: where it is, and what was sent."""

    agent: str
    url: str
    n_runs: int
    n_feedback: int
    n_skipped: int


def publish(
    client: "Client", losses: Losses, database: Database, run_id: str, datasets: Mapping[str, Dataset]
) -> tuple[Published, ...]:
    """Publishes the agents of a run that are among ``datasets``; packs are left out.

    Raises ConfigError when the run has none of them or is not scored, ServiceError when the service does not take all.
    """
    run = runs.get(database, run_id)
    rows = [row for row in runs.agents(database, run.run_id) if row.agent in datasets]
    if not rows:
        raise ConfigError(f"run {run.run_id} has nothing to publish: no agent of the repo was in it")
    with told(client.api_url):
        done = [_publish(client, database, run, row, datasets[row.agent]) for row in rows]
        client.flush()
    losses.require_none()
    for item in done:
        experiments.keep(database, run.run_id, item.agent, item.url)
    return tuple(done)


def _publish(client: "Client", database: Database, run: Run, row: AgentRow, dataset: Dataset) -> Published:
    dataset_id = find(client, dataset_name(row.agent))
    if dataset_id is None:
        raise ServiceError(f"there is no copy {dataset_name(row.agent)} at LangSmith: eval-pipeline sync makes it")
    graded = {item.example_id: item for item in scores.read(database, run.run_id, row.agent)}
    if not graded:
        raise ConfigError(f"run {run.run_id} has no scores of {row.agent}: eval-pipeline score makes them")
    session, is_new = _session(client, run, row, dataset_id)
    there = frozenset() if is_new else _there(client, session.id)
    n_runs = n_feedback = 0
    attempts = _attempts(database, run, row, graded, dataset, session.id)
    for batch in batches(attempts, _n_bytes, SENT_AT_ONCE):
        steps = [item for steps, _ in batch for item in steps]
        client.multipart_ingest(
            create=[item for item in steps if str(item["id"]) not in there],
            update=[item for item in steps if str(item["id"]) in there],
        )
        n_runs += len(batch)
        for feedback in (item for _, found in batch for item in found):
            _send(client, session.id, feedback)
            n_feedback += 1
    client.update_project(session.id, end_time=run.finished_at, metadata=_metadata(run, row))
    n_skipped = sum(item.decision.verdict.value == "SKIP" for item in graded.values())
    return Published(row.agent, _url(session, dataset_id), n_runs, n_feedback, n_skipped)


def _session(client: "Client", run: Run, row: AgentRow, dataset_id: uuid.UUID) -> tuple["TracerSession", bool]:
    """The experiment of this run, and whether it was made just now."""
    from langsmith.utils import LangSmithConflictError, LangSmithNotFoundError

    name = f"{row.agent}-{run.run_id}"
    try:
        return client.read_project(project_name=name), False
    except LangSmithNotFoundError:
        pass
    try:
        made = client.create_project(name, reference_dataset_id=dataset_id, metadata=_metadata(run, row))
    except LangSmithConflictError:
        return client.read_project(project_name=name), False
    return made, True


def _metadata(run: Run, row: AgentRow) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "model": run.model,
        "trials": run.trials,
        "partial": run.partial,
        "dataset_digest": row.dataset_digest,
        "code_version": row.code_version,
        "evaluators_digest": row.evaluators_digest,
        "problems": list(row.problems),
    }


def _there(client: "Client", session: uuid.UUID) -> frozenset[str]:
    """The ids of all runs that an earlier publication left."""
    found: set[str] = set()
    cursor: str | None = None
    while True:
        asked = {"session": [str(session)], "select": ["id"], "limit": PAGE, "cursor": cursor}
        answer = client.request_with_retries("POST", "/runs/query", data=text_of_json(asked)).json()
        found.update(str(row["id"]) for row in answer["runs"])
        cursor = (answer.get("cursors") or {}).get("next")
        if not cursor:
            return frozenset(found)


Attempt = tuple[list[RunRow], list[Feedback]]


def _attempts(
    database: Database,
    run: Run,
    row: AgentRow,
    graded: Mapping[str, Graded],
    dataset: Dataset,
    session: uuid.UUID,
) -> Iterator[Attempt]:
    for outcome in outcomes.read(database, run.run_id, row.agent, with_spans=True):
        if outcome.example_id in graded:
            yield _attempt(outcome, graded[outcome.example_id], dataset, session)


def _attempt(outcome: Outcome, graded: Graded, dataset: Dataset, session: uuid.UUID) -> Attempt:
    """An example that has changed since, or is gone, is not shown as what the attempt was about."""
    example = dataset.by_id.get(outcome.example_id)
    is_the_same = example is not None and dataset.inputs_digest(example) == outcome.inputs_digest
    inputs = dataset.inputs(example) if example is not None and is_the_same else None
    steps = list(runs_of(outcome, graded, inputs, session, is_copied=example is not None))
    masked = [{**item, **{key: mask(item[key]) for key in MASKED if item.get(key) is not None}} for item in steps]
    return masked, list(feedback_of(outcome, graded))


MASKED = ("inputs", "outputs", "error", "extra")


def _n_bytes(attempt: Attempt) -> int:
    return sum(len(str(step)) for step in attempt[0])


def _send(client: "Client", session: uuid.UUID, feedback: Feedback) -> None:
    client.create_feedback(
        run_id=feedback.run_id,
        trace_id=feedback.run_id,
        key=feedback.key,
        score=feedback.value,
        comment=None if feedback.comment is None else mask(feedback.comment),
        feedback_id=feedback.id,
        session_id=session,
        start_time=feedback.start,
        source_info=None if feedback.excused is None else {"excused": feedback.excused},
    )


def _url(session: "TracerSession", dataset_id: uuid.UUID) -> str:
    """The page that compares the experiment with the examples, and with other experiments on them."""
    base = str(session.url).partition("/projects/p/")[0]
    return f"{base}/datasets/{dataset_id}/compare?selectedSessions={session.id}"
