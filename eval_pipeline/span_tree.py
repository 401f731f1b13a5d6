"""Which step of a trace is within which: spans are stored as a list, and shown elsewhere as a tree.

Nodes are within nothing but the attempt: a graph tells of its own nodes alone, and nodes that run beside one another
overlap. A model call is within the node with which it has most time in common.
"""

from collections.abc import Sequence

from eval_pipeline.outcome import Span

SLACK_S = 0.002
"""A call's start is reckoned back from its end by the latency that the model's client measured."""


def parents(spans: Sequence[Span]) -> tuple[int | None, ...]:
    """For each span the place of the node that it is within; None for what is within the attempt alone."""
    nodes = [place for place, span in enumerate(spans) if span.kind == "node"]
    return tuple(_node_of(span, spans, nodes) if span.kind == "model" else None for span in spans)


def _node_of(call: Span, spans: Sequence[Span], nodes: Sequence[int]) -> int | None:
    # Of two that have the whole call in common, the shorter one: the other one only ran on beside it.
    around = [place for place in nodes if _holds(spans[place], call)]
    return max(around, key=lambda place: (_in_common(call, spans[place]), -spans[place].seconds), default=None)


def _holds(outer: Span, inner: Span) -> bool:
    starts = outer.start - SLACK_S <= inner.start
    return starts and inner.start + inner.seconds <= outer.start + outer.seconds + SLACK_S


def _in_common(one: Span, other: Span) -> float:
    """Seconds that two spans have in common; below zero the time between them."""
    return min(one.start + one.seconds, other.start + other.seconds) - max(one.start, other.start)
