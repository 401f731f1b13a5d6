"""The trace of one attempt: what each node of the agent's graph and each model call took in and gave out.

``run_graph`` is how a target runs a compiled LangGraph graph: it streams the graph's own task events, so the graph runs
as it is, unwrapped, and its nodes become spans.
"""

import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from decimal import Decimal
from typing import Any, Protocol

from eval_pipeline.errors import one_line
from eval_pipeline.outcome import ModelIdentity, Span, Usage
from eval_pipeline.values import require_json

MAX_VALUE_BYTES = 64 * 1024
"""A span's input or output longer than this as JSON text is cut, and says so."""


class CompiledGraph(Protocol):
    """The part of LangGraph's ``CompiledStateGraph`` that is used here."""

    @property
    def stream(self) -> Callable[..., Iterator[Any]]:
        """Runs the graph and yields its events."""


class Recorder:
    """Collects the spans, the usage and the model's identity of one attempt."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._spans: list[Span] = []
        self.usage = Usage()
        self.model: ModelIdentity | None = None

    def now(self) -> float:
        """Seconds since the attempt began."""
        return time.perf_counter() - self._began

    def add(self, span: Span) -> None:
        """Keeps a finished step."""
        self._spans.append(span)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The finished steps in the order in which they started."""
        return tuple(sorted(self._spans, key=lambda span: span.start))


_current: ContextVar[Recorder | None] = ContextVar("eval_pipeline_recorder", default=None)


def current() -> Recorder:
    """The recorder of the attempt that runs in this context; a fresh one outside of any attempt."""
    return _current.get() or Recorder()


@contextmanager
def recording() -> Iterator[Recorder]:
    """Makes a fresh recorder the current one."""
    recorder = Recorder()
    token = _current.set(recorder)
    try:
        yield recorder
    finally:
        _current.reset(token)


def run_graph(graph: CompiledGraph, state: Mapping[str, Any], **options: Any) -> Any:
    """Runs a compiled graph on ``state`` and returns its final state; every node becomes a span.

    ``options`` go to the graph as they are (``context=``, ``config=``). What a node raises is raised.
    """
    recorder = current()
    begun: dict[str, tuple[float, Any]] = {}
    final: Any = None
    for mode, event in graph.stream(state, stream_mode=["tasks", "values"], **options):
        if mode == "values":
            final = event
        elif "triggers" in event:
            begun[event["id"]] = (recorder.now(), bounded(event["input"]))
        else:
            start, taken = begun.pop(event["id"], (recorder.now(), None))
            error = event.get("error")
            recorder.add(
                Span(
                    "node",
                    event["name"],
                    start,
                    recorder.now() - start,
                    taken,
                    bounded(event.get("result")),
                    _told(error),
                )
            )
    return final


def _told(error: object) -> str | None:
    if isinstance(error, BaseException):
        return one_line(error)
    return str(error) if error else None


def bounded(value: Any) -> Any:
    """``value`` as JSON, cut to ``MAX_VALUE_BYTES`` with a note of its size; NaN and infinities become their names.

    Never raises: a state that cannot be shown (it holds itself, say) is told in its place and fails no attempt.
    """
    try:
        text = json.dumps(value, default=_plain, skipkeys=True)
        if len(text) > MAX_VALUE_BYTES:
            return {"cut": text[: MAX_VALUE_BYTES // 2], "bytes": len(text)}
        shown = json.loads(text, parse_constant=str)
        require_json(shown)
    except Exception as error:  # the agent's own values: their __repr__ or model_dump may raise anything
        return {"not_shown": one_line(error)}
    return shown


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal | date):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, set | frozenset | tuple):
        return sorted(value, key=str) if not isinstance(value, tuple) else list(value)
    return repr(value)
