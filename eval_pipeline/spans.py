"""An outcome's trace as OpenTelemetry spans, named by the GenAI conventions.

Ids are derived from run, agent, example, trial and the moment when the attempt began: what is sent again has the ids
that it had, and an attempt that was made anew has others.

Source of the names: the semantic conventions for generative AI (``opentelemetry.semconv``, incubating); beside them
those that Phoenix reads (OpenInference: ``openinference.span.kind``, ``input.value``, ``llm.token_count.*``).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from eval_pipeline.masking import mask
from eval_pipeline.outcome import Outcome, Span
from eval_pipeline.results.scores import Graded
from eval_pipeline.span_tree import parents
from eval_pipeline.trace import AS_BEFORE

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import SpanContext

SERVICE = "eval-pipeline"
ATTEMPT = -1
"""The place of the attempt itself, above the steps of its trace."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What becomes one span: its place in the trace and that of the step that it is within; nanoseconds."""

    place: int
    parent: int | None
    name: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    error: str | None
    events: "tuple[Event, ...]" = ()


def spans_of(outcome: Outcome, graded: Graded) -> "Iterator[ReadableSpan]":
    """The span of the attempt with its scores as events, and below it those of its steps."""
    yield _span(outcome, _attempt(outcome, graded))
    began = _ns(outcome.started_at)
    system = _only_system(outcome.spans)
    for place, (span, parent) in enumerate(zip(outcome.spans, parents(outcome.spans), strict=True)):
        name, attributes = _call(span, system) if span.kind == "model" else (span.name, _node(span))
        start = began + int(span.start * 1e9)
        above = ATTEMPT if parent is None else parent
        yield _span(outcome, _Step(place, above, name, start, start + int(span.seconds * 1e9), attributes, span.error))


def size_of(span: "ReadableSpan") -> int:
    """The characters of text in a span's attributes, which is nearly all of its size."""
    return sum(len(value) for value in (span.attributes or {}).values() if isinstance(value, str))


def _attempt(outcome: Outcome, graded: Graded) -> _Step:
    began = _ns(outcome.started_at)
    end = began + int(outcome.seconds * 1e9)
    decision = graded.decision
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": outcome.agent,
        "openinference.span.kind": "AGENT",
        **_value("output", outcome.outputs),
        "eval.run_id": outcome.run_id,
        "eval.example": outcome.example_id,
        "eval.trial": outcome.trial,
        "eval.verdict": decision.verdict.value,
        "eval.reason": mask(decision.reason) or None,
        "eval.cost_usd": str(outcome.usage.cost_usd) if outcome.usage.model_calls else None,
    }
    told = outcome.failure.message if outcome.failure else None
    events = tuple(_events(outcome, graded, end))
    return _Step(ATTEMPT, None, f"invoke_agent {outcome.agent}", began, end, attributes, told, events)


def _events(outcome: Outcome, graded: Graded, moment: int) -> "Iterator[Event]":
    from opentelemetry.sdk.trace import Event

    for trial, score in graded.scores:
        if trial == outcome.trial:
            told = {
                "gen_ai.evaluation.name": score.key,
                "gen_ai.evaluation.score.value": float(score.value),
                "gen_ai.evaluation.score.label": "pass" if score.value == 1 else "below",
                "gen_ai.evaluation.explanation": mask(score.comment or "") or None,
            }
            known = {key: value for key, value in told.items() if value is not None}
            yield Event("gen_ai.evaluation.result", known, timestamp=moment)


def _node(span: Span) -> dict[str, Any]:
    kind = "CHAIN" if span.kind == "node" else "UNKNOWN"
    return {"openinference.span.kind": kind, **_value("input", span.input), **_value("output", span.output)}


def _call(span: Span, system: str | None) -> tuple[str, dict[str, Any]]:
    """The name and the attributes of a model call."""
    asked = span.input if isinstance(span.input, Mapping) else {}
    answered = span.output if isinstance(span.output, Mapping) else {}
    tokens = answered.get("tokens") or {}
    read, written = tokens.get("cache_read", 0), tokens.get("cache_write", 0)
    n_input, n_output = tokens.get("input", 0) + read + written, tokens.get("output", 0)
    provider, _, model = span.name.rpartition("/")
    stop = answered.get("stop_reason")
    instructions = system if asked.get("system") == AS_BEFORE else asked.get("system")
    return f"chat {model}", {
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider or "anthropic",
        "gen_ai.request.model": model,
        "gen_ai.request.max_tokens": asked.get("max_tokens"),
        "gen_ai.response.id": answered.get("response_id"),
        "gen_ai.response.model": answered.get("model"),
        "gen_ai.response.finish_reasons": [stop] if stop else None,
        "gen_ai.usage.input_tokens": n_input,
        "gen_ai.usage.output_tokens": n_output,
        "gen_ai.usage.cache_read.input_tokens": read,
        "gen_ai.usage.cache_creation.input_tokens": written,
        "gen_ai.system_instructions": _text(_parts(instructions)),
        "gen_ai.input.messages": _text([{"role": "user", "parts": _parts(asked.get("content")) or []}]),
        "gen_ai.output.messages": _text(_reply(answered.get("reply"), stop)),
        "llm.model_name": model,
        "llm.token_count.prompt": n_input,
        "llm.token_count.completion": n_output,
        "eval.cost_usd": answered.get("cost_usd"),
    }


def _parts(content: Any) -> list[dict[str, Any]] | None:
    if content is None:
        return None
    return [{"type": "text", "content": part} for part in (content if isinstance(content, list) else [content])]


def _reply(reply: Any, stop: Any) -> list[dict[str, Any]] | None:
    if reply is None:
        return None
    return [{"role": "assistant", "parts": _parts([reply]), "finish_reason": stop or "error"}]


def _only_system(spans: Iterable[Span]) -> str | None:
    """What "as before" stands for in the calls of a trace; None when there were several, for it does not say which."""
    told = {span.input.get("system") for span in spans if span.kind == "model" and isinstance(span.input, Mapping)}
    known = told - {AS_BEFORE, None}
    return str(known.pop()) if len(known) == 1 else None


def _span(outcome: Outcome, step: _Step) -> "ReadableSpan":
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanKind
    from opentelemetry.trace.status import Status, StatusCode

    error = None if step.error is None else str(mask(step.error))
    attributes = {**step.attributes, "error.type": None if error is None else _type_of(error)}
    return ReadableSpan(
        name=step.name,
        context=_context(outcome, step.place),
        parent=None if step.parent is None else _context(outcome, step.parent),
        resource=_resource(),
        attributes={key: value for key, value in attributes.items() if value is not None},
        events=step.events,
        kind=SpanKind.CLIENT if attributes.get("gen_ai.operation.name") == "chat" else SpanKind.INTERNAL,
        status=Status(StatusCode.OK) if error is None else Status(StatusCode.ERROR, error),
        start_time=step.start,
        end_time=step.end,
    )


def _type_of(error: str) -> str:
    """The exception's name at the beginning of an error; the conventions' ``_OTHER`` where it begins with words."""
    name = error.partition(":")[0]
    return name if name.replace(".", "").isidentifier() else "_OTHER"


@cache
def _resource() -> "Resource":
    """What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say; our name where they say none."""
    from opentelemetry.sdk.resources import Resource

    found = Resource.create()
    is_named = not str(found.attributes.get("service.name", "unknown_service")).startswith("unknown_service")
    return found if is_named else found.merge(Resource({"service.name": SERVICE}))


def _context(outcome: Outcome, place: int) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags

    began = _ns(outcome.started_at)
    trace = f"{outcome.run_id}/{outcome.agent}/{outcome.example_id}/{outcome.trial}/{began}"
    sampled = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(_digest(trace, 16), _digest(f"{trace}#{place}", 8), is_remote=False, trace_flags=sampled)


def _digest(text: str, n_bytes: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:n_bytes]) or 1


def _value(name: str, value: Any) -> dict[str, Any]:
    """An input or output as Phoenix reads it: text that says that it is JSON."""
    return {} if value is None else {f"{name}.value": _text(value), f"{name}.mime_type": "application/json"}


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(mask(value), ensure_ascii=False, default=str)


def _ns(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000
