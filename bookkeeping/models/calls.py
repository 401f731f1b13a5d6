"""Who watches: every attempt at a model is told to the observer of the context that it is made in.

    with observed(calls.append):
        graph.invoke(...)

The observer sees; it decides nothing and changes nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from bookkeeping.models.model import NO_TOKENS, Request, Tokens


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One attempt at one completion.

    ``reply`` is the text that came back, as far as it came. ``error`` is None when the attempt gave an answer.
    ``tokens`` are those of this attempt.
    """

    model: str
    endpoint: str
    request: Request
    seconds: float
    model_id: str | None = None
    response_id: str | None = None
    reply: str | None = None
    stop_reason: str | None = None
    tokens: Tokens = NO_TOKENS
    error: str | None = None


Observer = Callable[[ModelCall], None]

_observer: ContextVar[Observer | None] = ContextVar("bookkeeping_model_observer", default=None)


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Has the calls of this context told to ``observer``, those of threads that copy the context among them."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def tell(call: ModelCall) -> None:
    """Tells the observer, if there is one."""
    observer = _observer.get()
    if observer is not None:
        observer(call)
