"""Which step of a trace is within which: spans are stored as a list, and shown elsewhere as a tree."""

from collections.abc import Sequence

from eval_pipeline.outcome import Span

SLACK_S = 0.002
"""A call's start is reckoned back from its end by the latency that the model's client measured."""


def parents(spans: Sequence[Span]) -> tuple[int | None, ...]:
    """For each span the place of the node that it is within, the innermost one; None for what is within none."""
    return tuple(_parent(spans, place) for place in range(len(spans)))


def _parent(spans: Sequence[Span], place: int) -> int | None:
    inner = spans[place]
    around = [
        other
        for other, span in enumerate(spans)
        if other != place and span.kind == "node" and _holds(span, inner) and not _holds(inner, span, slack=0)
    ]
    return min(around, key=lambda other: spans[other].seconds, default=None)


def _holds(outer: Span, inner: Span, slack: float = SLACK_S) -> bool:
    starts = outer.start - slack <= inner.start
    return starts and inner.start + inner.seconds <= outer.start + outer.seconds + slack
