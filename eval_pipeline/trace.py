"""The trace of one attempt: what each node of the agent's graph and each model call took in and gave out.

``run_graph`` is how a target runs a compiled LangGraph graph: it streams the graph's own task events, so the graph runs
as it is, unwrapped, and its nodes become spans.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

from eval_pipeline.errors import one_line
from eval_pipeline.guard import current_guard
from eval_pipeline.langsmith_tracing import traced
from eval_pipeline.masking import mask_secrets
from eval_pipeline.outcome import NO_USAGE, ModelIdentity, Span, Usage

MAX_PARTS = 2000
"""A span's input or output keeps so many parts (values, keys, items) at most; what is beyond is cut, and says so."""
MAX_TEXT = 16 * 1024
"""Characters that are kept of one string in a span; every 256 of them count as one more part."""
LONGEST_SECRET = 1024
"""Characters beyond the cut that are looked at, so that a secret across it is seen whole."""
MAX_DEPTH = 40
"""How deep values in one another are shown, well within what can be stored and read back."""
MAX_BITS = 10_000
"""Python writes no int of more than 4300 digits as text."""
CUT = "... (cut)"


class CompiledGraph(Protocol):
    """The part of LangGraph's ``CompiledStateGraph`` that is used here."""

    @property
    def stream(self) -> Callable[..., Iterator[Any]]:
        """Runs the graph and yields its events."""


AttemptName = tuple[str, str, int, str]
"""Agent, example, trial and run of an attempt."""


class Recorder:
    """Collects the spans, the usage and the model's identity of one attempt. ``shown`` makes a value fit for a span."""

    def __init__(self, attempt: AttemptName | None = None) -> None:
        self.attempt = attempt
        self._began = time.perf_counter()
        self._spans: list[Span] = []
        self.usage: Usage = NO_USAGE
        self.model: ModelIdentity | None = None
        self.ran_graph = False
        self._printed: _Printed | None = None

    @cached_property
    def shown(self) -> "_Showing":
        """Makes any value of this attempt fit for a span."""
        return _Showing()

    def now(self) -> float:
        """Seconds since the attempt began."""
        return time.perf_counter() - self._began

    def add(self, span: Span) -> None:
        """Keeps a finished step, without secrets in its error (``shown`` keeps them out of the rest)."""
        told = span.error and mask_secrets(span.error)
        self._spans.append(span if told == span.error else dataclasses.replace(span, error=told))

    def print(self, text: str) -> None:
        """Keeps what the attempt prints, up to MAX_TEXT characters; the rest is counted."""
        if self._printed is None:
            self._printed = _Printed(self.now())
        self._printed.add(text)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The finished steps in the order in which they started, and what was printed."""
        if self._printed is not None:
            return tuple(sorted((*self._spans, self._printed.span()), key=lambda span: span.start))
        return tuple(sorted(self._spans, key=lambda span: span.start)) if self._spans else ()


class _Printed:
    """What one attempt printed, from when on."""

    def __init__(self, start: float) -> None:
        self._start = start
        self._parts: list[str] = []
        self._kept = self._all = 0

    def add(self, text: str) -> None:
        self._all += len(text)
        part = text[: MAX_TEXT - self._kept]
        if part:
            self._kept += len(part)
            self._parts.append(part)

    def span(self) -> Span:
        cut = f"{CUT} of {self._all} characters" if self._all > self._kept else ""
        return Span("print", "stdout", self._start, 0.0, output={"text": mask_secrets("".join(self._parts)) + cut})


_current: ContextVar[Recorder | None] = ContextVar("eval_pipeline_recorder", default=None)


def current() -> Recorder:
    """The recorder of the attempt that runs in this context; a fresh one outside of any attempt."""
    return _current.get() or Recorder()


def attempt_in_progress() -> Recorder | None:
    """The recorder of the attempt that runs in this context, if one does."""
    return _current.get()


class recording:
    """Makes a fresh recorder the current one."""

    __slots__ = ("_attempt", "_recorder", "_token")

    def __init__(self, attempt: AttemptName | None = None) -> None:
        self._attempt = attempt

    def __enter__(self) -> Recorder:
        self._recorder = Recorder(self._attempt)
        self._token = _current.set(self._recorder)
        return self._recorder

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def run_graph(graph: CompiledGraph, state: Mapping[str, Any], **options: Any) -> Any:
    """Runs a compiled graph on ``state`` and returns its output, as ``invoke`` would; every node becomes a span.

    ``options`` go to the graph as they are (``context=``, ``config=``). What a node raises is raised; in a run,
    ReasoningSubstituted for a graph that is not the one on disk.
    """
    recorder = current()
    current_guard().check(graph, {"state": state, **options})
    recorder.ran_graph = True
    with traced(*recorder.attempt) if recorder.attempt else nullcontext():
        final = _streamed(recorder, graph, state, options)
    channels = getattr(graph, "output_channels", None)
    if isinstance(final, dict) and isinstance(channels, list | tuple):
        return {name: final[name] for name in channels if name in final}
    return final


def _streamed(recorder: Recorder, graph: CompiledGraph, state: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """The last state of the graph; its nodes are recorded as they begin and end."""
    begun: dict[str, tuple[float, Any]] = {}
    news = _News()
    final: Any = None
    for mode, event in graph.stream(state, stream_mode=["tasks", "values"], **options):
        if mode == "values":
            final = event
        elif "triggers" in event:
            begun[event["id"]] = (recorder.now(), recorder.shown(news.of(event["input"])))
        else:
            start, taken = begun.pop(event["id"], (recorder.now(), None))
            error = event.get("error")
            result = recorder.shown(news.told(event.get("result")))
            told = one_line(error) if isinstance(error, BaseException) else error and str(error)
            recorder.add(Span("node", event["name"], start, recorder.now() - start, taken, result, told))
    return final


AS_BEFORE = "as before"
"""In a node's input: the names of what an earlier span of the trace has shown already."""


class _News:
    """Keeps a trace from telling the whole state again at every node: what a span before has shown is only named."""

    def __init__(self) -> None:
        self._seen: dict[str, object] = {}

    def of(self, state: Any) -> Any:
        """A node's input with the values that no span has shown yet, and the names of the others."""
        if not isinstance(state, Mapping):
            return state
        new = {name: value for name, value in state.items() if not self._is_shown(name, value)}
        old = [name for name in state if name not in new]
        self._seen.update(new)
        return {**new, AS_BEFORE: old} if old else new

    def _is_shown(self, name: str, value: object) -> bool:
        plain = value is None or isinstance(value, bool | int | float | str)
        return not plain and name in self._seen and self._seen[name] is value

    def told(self, result: Any) -> Any:
        """A node's result, which counts as shown from now on."""
        if isinstance(result, Mapping):
            self._seen.update(result)
        return result


class _Showing:
    """Turns any value into JSON for a span, within a budget of parts, without secrets. A frozen object is turned once.

    Never raises: what cannot be shown is told in its place, and no attempt fails for its trace.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, Any]] = {}
        self._left = 0

    def __call__(self, value: Any) -> Any:
        self._left = MAX_PARTS
        try:
            return self._show(value, 0)
        except Exception as error:  # an agent's own values: their __repr__ or __getattr__ may raise anything
            return {"not shown": one_line(error)}

    def _show(self, value: Any, depth: int) -> Any:
        if self._left <= 0 or depth > MAX_DEPTH:
            return CUT
        self._left -= 1
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._show_text(value)
        if isinstance(value, int | float):
            return _show_number(value)
        if isinstance(value, Mapping):
            return {self._show_text(str(key)): self._show(item, depth + 1) for key, item in self._within(value.items())}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._show(item, depth + 1) for item in self._within(value)]
        return self._show_object(value, depth)

    def _show_text(self, value: str) -> str:
        self._left -= len(value[:MAX_TEXT]) // 256
        if len(value) <= MAX_TEXT:
            return str(mask_secrets(value))
        # Masked before it is cut: half a secret is not known by its looks.
        return str(mask_secrets(value[: MAX_TEXT + LONGEST_SECRET]))[:MAX_TEXT] + CUT

    def _within(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            if self._left <= 0:
                return
            yield item

    def _show_object(self, value: Any, depth: int) -> Any:
        if isinstance(value, Decimal | Fraction | date):
            return str(value)
        known = self._known.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        fields = _fields(value)
        if fields is None:
            return self._show_text(repr(value))
        shown = self._show(fields, depth)
        if _is_frozen(value):
            self._known[id(value)] = (value, shown)
        return shown


def _show_number(value: int | float) -> int | float | str:
    if isinstance(value, int):
        return value if value.bit_length() <= MAX_BITS else f"a number of {value.bit_length()} bits"
    return value if math.isfinite(value) else str(value)


def _is_frozen(value: Any) -> bool:
    parameters = getattr(type(value), "__dataclass_params__", None)
    if parameters is not None:
        return bool(parameters.frozen)
    return bool(getattr(type(value), "model_config", {}).get("frozen"))


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass or a pydantic model by name; None for anything else."""
    names: Iterable[str]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (item.name for item in dataclasses.fields(value))
    elif hasattr(type(value), "model_fields"):
        names = type(value).model_fields
    else:
        return None
    return {name: getattr(value, name) for name in names}
