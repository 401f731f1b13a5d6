"""Traces as OpenTelemetry spans, to wherever ``OTEL_EXPORTER_OTLP_ENDPOINT`` says, by the GenAI conventions.

The spans are made from stored outcomes once they are scored, so that a collector that is away costs no agent any time.
Ids are derived from run, agent, example and trial: what is sent again has the ids that it had. Packs send nothing.

Source of the names: the semantic conventions for generative AI, in ``opentelemetry.semconv`` (incubating); beside them
those that Phoenix reads (OpenInference: ``openinference.span.kind``, ``input.value``, ``output.value``).
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from eval_pipeline.masking import mask
from eval_pipeline.outcome import Outcome, Span, Status
from eval_pipeline.results import outcomes, scores
from eval_pipeline.results.database import Database
from eval_pipeline.results.scores import Graded
from eval_pipeline.span_tree import parents

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
SENT_AT_ONCE = 200
"""Spans of one request."""


def is_on(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether there is a collector to send spans to."""
    return any(environment.get(name) for name in ENDPOINTS)


def send(database: Database, run_id: str, agent: str, exporter: "SpanExporter | None" = None) -> str | None:
    """Sends the traces of an agent's graded outcomes; None when all were taken, else what went wrong, in a sentence.

    Never raises for a collector's fault. The exporter's own time limit (``OTEL_EXPORTER_OTLP_TIMEOUT``) bounds it, and
    after the first request that is not taken no other is made.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SpanExportResult

    chosen = exporter or OTLPSpanExporter()
    n_sent = 0
    for batch in _batches(_of_agent(database, run_id, agent)):
        try:
            result = chosen.export(batch)
        except Exception as error:  # an exporter's session may raise what it likes; its text may hold the address
            return f"{n_sent} spans sent; the collector failed with {type(error).__name__}"
        if result is not SpanExportResult.SUCCESS:
            return f"{n_sent} spans sent; the collector did not take the next {len(batch)}"
        n_sent += len(batch)
    return None


def _of_agent(database: Database, run_id: str, agent: str) -> Iterator["ReadableSpan"]:
    graded = {item.example_id: item for item in scores.read(database, run_id, agent)}
    for outcome in outcomes.read(database, run_id, agent, with_spans=True):
        if outcome.example_id in graded and outcome.status is not Status.SKIPPED:
            yield from spans_of(outcome, graded[outcome.example_id])


def _batches(spans: Iterable["ReadableSpan"]) -> Iterator[list["ReadableSpan"]]:
    batch: list[ReadableSpan] = []
    for span in spans:
        batch.append(span)
        if len(batch) == SENT_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def spans_of(outcome: Outcome, graded: Graded) -> Iterator["ReadableSpan"]:
    """The span of the attempt with its scores as events, and below it those of its steps."""
    began = _ns(outcome.started_at)
    decision = graded.decision
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": outcome.agent,
        "openinference.span.kind": "AGENT",
        "output.value": _text(outcome.outputs),
        "eval.run_id": outcome.run_id,
        "eval.example": outcome.example_id,
        "eval.trial": outcome.trial,
        "eval.verdict": decision.verdict.value,
        "eval.reason": mask(decision.reason) or None,
    }
    told = outcome.failure.message if outcome.failure else None
    end = began + int(outcome.seconds * 1e9)
    yield _span(
        outcome, None, None, f"invoke_agent {outcome.agent}", began, end, attributes, told, _events(outcome, graded)
    )
    above = parents(outcome.spans)
    for place, (span, parent) in enumerate(zip(outcome.spans, above, strict=True)):
        start = began + int(span.start * 1e9)
        name = f"chat {span.name}" if span.kind == "model" else span.name
        made = _call(span) if span.kind == "model" else _node(span)
        yield _span(
            outcome,
            place,
            -1 if parent is None else parent,
            name,
            start,
            start + int(span.seconds * 1e9),
            made,
            span.error,
        )


def _span(
    outcome: Outcome,
    place: int | None,
    parent: int | None,
    name: str,
    start: int,
    end: int,
    attributes: Mapping[str, Any],
    error: str | None,
    events: "Iterable[Event]" = (),
) -> "ReadableSpan":
    """The span of the step at a place, or of the attempt (None); the parent -1 is the attempt."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanKind
    from opentelemetry.trace.status import Status as SpanStatus
    from opentelemetry.trace.status import StatusCode

    return ReadableSpan(
        name=name,
        context=_context(outcome, place),
        parent=None if parent is None else _context(outcome, None if parent < 0 else parent),
        resource=Resource.create({"service.name": "eval-pipeline"}),
        attributes={key: value for key, value in attributes.items() if value is not None},
        events=tuple(events),
        kind=SpanKind.CLIENT if name.startswith("chat ") else SpanKind.INTERNAL,
        status=SpanStatus(StatusCode.OK) if error is None else SpanStatus(StatusCode.ERROR, mask(error)),
        start_time=start,
        end_time=end,
    )


def _context(outcome: Outcome, place: int | None) -> Any:
    from opentelemetry.trace import SpanContext, TraceFlags

    trace = f"{outcome.run_id}/{outcome.agent}/{outcome.example_id}/{outcome.trial}"
    return SpanContext(
        _digest(trace, 16), _digest(f"{trace}#{place}", 8), is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED)
    )


def _digest(text: str, n_bytes: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:n_bytes]) or 1


def _node(span: Span) -> dict[str, Any]:
    kind = "CHAIN" if span.kind == "node" else "UNKNOWN"
    return {"openinference.span.kind": kind, "input.value": _text(span.input), "output.value": _text(span.output)}


def _call(span: Span) -> dict[str, Any]:
    asked = span.input if isinstance(span.input, Mapping) else {}
    answered = span.output if isinstance(span.output, Mapping) else {}
    tokens = answered.get("tokens") or {}
    read, written = tokens.get("cache_read", 0), tokens.get("cache_write", 0)
    provider, _, name = span.name.rpartition("/")
    content = asked.get("content") or []
    parts = [{"type": "text", "content": part} for part in (content if isinstance(content, list) else [content])]
    reply = {"role": "assistant", "parts": [{"type": "text", "content": answered.get("reply")}]}
    stop = answered.get("stop_reason")
    return {
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider or "anthropic",
        "gen_ai.request.model": name,
        "gen_ai.request.max_tokens": asked.get("max_tokens"),
        "gen_ai.response.model": answered.get("model"),
        "gen_ai.response.finish_reasons": [stop] if stop else None,
        "gen_ai.usage.input_tokens": tokens.get("input", 0) + read + written,
        "gen_ai.usage.output_tokens": tokens.get("output", 0),
        "gen_ai.usage.cache_read.input_tokens": read,
        "gen_ai.usage.cache_creation.input_tokens": written,
        "gen_ai.system_instructions": _text([{"type": "text", "content": asked.get("system")}]),
        "gen_ai.input.messages": _text([{"role": "user", "parts": parts}]),
        "gen_ai.output.messages": _text([reply]),
        "eval.cost_usd": answered.get("cost_usd"),
    }


def _events(outcome: Outcome, graded: Graded) -> "Iterator[Event]":
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
            yield Event("gen_ai.evaluation.result", known, timestamp=_ns(outcome.started_at))


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(mask(value), ensure_ascii=False, default=str)


def _ns(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000
