"""Traces as OpenTelemetry spans, to wherever ``OTEL_EXPORTER_OTLP_ENDPOINT`` says.

Stored outcomes are sent once they are scored, so that a collector that is away costs no agent any time. Packs send
nothing. Each request is small, each has the exporter's time limit, and all of an agent's have one together.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from eval_pipeline.batches import batches as cut
from eval_pipeline.outcome import Status
from eval_pipeline.results import outcomes, scores
from eval_pipeline.results.database import Database
from eval_pipeline.spans import size_of, spans_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
MAX_SPANS = 200
"""Spans of one request."""
MAX_CHARACTERS = 2_000_000
"""Text in the spans of one request: collectors refuse large bodies (the OpenTelemetry collector those over 20 MiB)."""
LONGEST_S = 60.0
"""How long all requests for one agent may take: after that no other is begun."""


def is_on(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether there is a collector to send spans to."""
    return any(environment.get(name) for name in ENDPOINTS)


def send(
    database: Database,
    run_id: str,
    agent: str,
    exporter: "SpanExporter | None" = None,
    longest_s: float = LONGEST_S,
) -> str | None:
    """Sends the traces of an agent's graded outcomes; None when all were taken, else what went wrong, in a sentence.

    Never raises for a collector's fault, nor for settings of the exporter that it cannot read. Its own time limit
    (``OTEL_EXPORTER_OTLP_TIMEOUT``, 10 s) bounds one request with its repetitions, ``longest_s`` begins no other; after
    the first that is not taken no other is made.
    """
    ends = time.monotonic() + longest_s
    n_sent = 0
    try:
        chosen = exporter or _exporter()
    except Exception as error:  # settings of the exporter, whatever it says of them
        return f"0 spans sent; the exporter cannot be made with these OTEL_* variables: {type(error).__name__}"
    try:
        for batch in batches(_of_agent(database, run_id, agent)):
            if time.monotonic() >= ends:
                return f"{n_sent} spans sent; the collector was too slow for the others ({longest_s:g} s)"
            lost = _lost(chosen, batch)
            if lost:
                return f"{n_sent} spans sent; {lost}"
            n_sent += len(batch)
    finally:
        if exporter is None:
            chosen.shutdown()
    return None


def _exporter() -> "SpanExporter":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def _lost(exporter: "SpanExporter", batch: "list[ReadableSpan]") -> str | None:
    from opentelemetry.sdk.trace.export import SpanExportResult

    try:
        result = exporter.export(batch)
    except Exception as error:  # an exporter's session may raise what it likes; its text may hold the address
        return f"the collector failed with {type(error).__name__}"
    return None if result is SpanExportResult.SUCCESS else f"the collector did not take the next {len(batch)}"


def _of_agent(database: Database, run_id: str, agent: str) -> "Iterator[ReadableSpan]":
    graded = {item.example_id: item for item in scores.read(database, run_id, agent)}
    for outcome in outcomes.read(database, run_id, agent, with_spans=True):
        if outcome.example_id in graded and outcome.status is not Status.SKIPPED:
            yield from spans_of(outcome, graded[outcome.example_id])


def batches(spans: "Iterable[ReadableSpan]") -> "Iterator[list[ReadableSpan]]":
    """The spans in their order, in parts of at most MAX_SPANS and about MAX_CHARACTERS (one span may have more)."""
    return cut(spans, size_of, MAX_CHARACTERS, MAX_SPANS)
