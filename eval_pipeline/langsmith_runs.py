"""A graded outcome as LangSmith shows it: a run for the attempt, one for each step in it, and feedback for each score.

Ids are derived, so that publishing again meets what is there. Packs' outcomes never come here.
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from eval_pipeline.langsmith_copy import NAMESPACE, copied_id, dataset_name
from eval_pipeline.outcome import Outcome, Span
from eval_pipeline.results.scores import Graded
from eval_pipeline.span_tree import parents
from eval_pipeline.verdict import Verdict

RunRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Feedback:
    """One score of one attempt. ``excused`` is the reason of the marker that excuses it."""

    id: uuid.UUID
    run_id: uuid.UUID
    start: datetime
    key: str
    value: float
    comment: str | None
    excused: str | None


def attempt_id(outcome: Outcome) -> uuid.UUID:
    """The id of the run that stands for an outcome."""
    return uuid.uuid5(NAMESPACE, f"{outcome.run_id}/{outcome.agent}/{outcome.example_id}/{outcome.trial}")


def runs_of(
    outcome: Outcome, graded: Graded, inputs: Mapping[str, Any] | None, session: uuid.UUID, *, is_copied: bool
) -> Iterator[RunRow]:
    """The run of the attempt, linked to its example when that is in the copy, and those of its steps."""
    root = attempt_id(outcome)
    order = _order(outcome.started_at, root)
    row: RunRow = {
        "id": root,
        "trace_id": root,
        "dotted_order": order,
        "name": outcome.agent,
        "run_type": "chain",
        "session_id": session,
        "start_time": outcome.started_at,
        "end_time": outcome.started_at + timedelta(seconds=outcome.seconds),
        "inputs": dict(inputs or {}),
        "outputs": None if outcome.outputs is None else dict(outcome.outputs),
        "error": f"{outcome.failure.kind}: {outcome.failure.message}" if outcome.failure else None,
        "extra": {"metadata": _metadata(outcome, graded)},
        "tags": [graded.decision.verdict.value],
    }
    if is_copied:
        row["reference_example_id"] = copied_id(dataset_name(outcome.agent), outcome.example_id)
    yield row
    yield from _steps(outcome, root, order, session)


def feedback_of(outcome: Outcome, graded: Graded) -> Iterator[Feedback]:
    """The scores of this attempt. A skipped one has none, and none is made up for it."""
    if graded.decision.verdict is Verdict.SKIP:
        return
    root = attempt_id(outcome)
    excused = {item.key: item.reason for item in graded.decision.excused}
    for trial, score in graded.scores:
        if trial == outcome.trial:
            yield Feedback(
                uuid.uuid5(root, score.key),
                root,
                outcome.started_at,
                score.key,
                score.value,
                score.comment,
                excused.get(score.key) if score.value < 1 else None,
            )


def _metadata(outcome: Outcome, graded: Graded) -> dict[str, Any]:
    decision = graded.decision
    told = {
        "example": outcome.example_id,
        "trial": outcome.trial,
        "run_id": outcome.run_id,
        "verdict": decision.verdict.value,
        "reason": decision.reason,
        "failed": list(decision.failed),
        "excused": {item.key: item.reason for item in decision.excused},
        "xpass": list(decision.xpass),
        "skip_reason": outcome.skip_reason,
        "model": outcome.model.name if outcome.model else None,
        "endpoint": outcome.model.endpoint if outcome.model else None,
        "cost_usd": str(outcome.usage.cost_usd) if outcome.usage.model_calls else None,
    }
    return {key: value for key, value in told.items() if value not in (None, "", [], {})}


def _steps(outcome: Outcome, root: uuid.UUID, order: str, session: uuid.UUID) -> Iterator[RunRow]:
    ids = [uuid.uuid5(root, f"step {place}") for place in range(len(outcome.spans))]
    orders: dict[int, str] = {}
    above = parents(outcome.spans)

    def order_of(place: int) -> str:
        if place not in orders:
            parent = above[place]
            start = outcome.started_at + timedelta(seconds=outcome.spans[place].start)
            orders[place] = f"{order if parent is None else order_of(parent)}.{_order(start, ids[place])}"
        return orders[place]

    for place, span in enumerate(outcome.spans):
        start = outcome.started_at + timedelta(seconds=span.start)
        parent = above[place]
        yield {
            "id": ids[place],
            "trace_id": root,
            "parent_run_id": root if parent is None else ids[parent],
            "dotted_order": order_of(place),
            "name": span.name,
            "session_id": session,
            "start_time": start,
            "end_time": start + timedelta(seconds=span.seconds),
            "error": span.error,
            **(_call(span) if span.kind == "model" else _node(span)),
        }


def _node(span: Span) -> RunRow:
    return {"run_type": "chain", "inputs": _mapping(span.input), "outputs": _mapping(span.output)}


def _call(span: Span) -> RunRow:
    """A model call as LangSmith reads messages, tokens and cost from it."""
    asked, answered = _mapping(span.input), _mapping(span.output)
    content = asked.get("content") or []
    messages = [
        {"role": "system", "content": asked.get("system")},
        *({"role": "user", "content": part} for part in (content if isinstance(content, list) else [content])),
    ]
    tokens = _mapping(answered.get("tokens"))
    read, written = tokens.get("cache_read", 0), tokens.get("cache_write", 0)
    n_input, n_output = tokens.get("input", 0) + read + written, tokens.get("output", 0)
    usage = {
        "input_tokens": n_input,
        "output_tokens": n_output,
        "total_tokens": n_input + n_output,
        "input_token_details": {"cache_read": read, "cache_creation": written},
        "total_cost": float(answered.get("cost_usd", 0)),
    }
    provider, _, name = span.name.rpartition("/")
    return {
        "run_type": "llm",
        "inputs": {"messages": messages},
        "outputs": {
            "messages": [{"role": "assistant", "content": answered.get("reply")}],
            "stop_reason": answered.get("stop_reason"),
            "usage_metadata": usage,
        },
        "extra": {"metadata": {"ls_provider": provider or "anthropic", "ls_model_name": name, "ls_model_type": "chat"}},
    }


def _mapping(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else {"value": value}


def _order(start: datetime, run_id: uuid.UUID) -> str:
    return f"{start:%Y%m%dT%H%M%S%f}Z{run_id}"
