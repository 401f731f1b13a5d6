"""Who looks at the graph that a target runs, and at what it hands to it, before the graph starts.

``run_graph`` is the one door to an agent's graph. A run sets its guard for the attempts in it; outside of a run nobody
looks.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

SUBSTITUTED = "reasoning substituted"
"""How the failure of an outcome begins that was refused for this."""


class ReasoningSubstituted(Exception):
    """Reasoning that is not the one on disk: the attempt is refused, and no marker excuses it."""


class Guard(Protocol):
    """``requires_graph`` says that an attempt which ran no graph has no outputs worth grading."""

    @property
    def requires_graph(self) -> bool:
        """Whether the agent has a graph that its target must run."""

    def check(self, graph: object, given: Mapping[str, Any]) -> None:
        """Called with the graph and all that it is given. Raises ReasoningSubstituted."""


class NoGuard:
    """Outside of a run."""

    requires_graph = False

    def check(self, graph: object, given: Mapping[str, Any]) -> None:
        """Lets everything pass."""


_current: ContextVar[Guard] = ContextVar("eval_pipeline_guard", default=NoGuard())  # noqa: B039  (it holds nothing)


def current_guard() -> Guard:
    """The guard of the run that this context belongs to."""
    return _current.get()


@contextmanager
def guarded_by(guard: Guard) -> Iterator[None]:
    """Makes this guard the current one."""
    token = _current.set(guard)
    try:
        yield
    finally:
        _current.reset(token)
