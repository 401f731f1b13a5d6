"""The SDK's own tracing of LangGraph, when its switch is on (``LANGSMITH_TRACING=true``): masked, never of packs.

Without this module the switch would send everything as it is, packs too: LangGraph looks at it by itself.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from eval_pipeline.masking import mask

if TYPE_CHECKING:
    from langsmith import Client

SWITCHES = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")
PROJECT = "LANGSMITH_PROJECT"
OWN_PROJECT = "eval-pipeline"
LONGEST_FLUSH_S = 30
MASKED = ("inputs", "outputs", "error", "extra", "events")


class _Tracing:
    """The client of this process, while agents run."""

    def __init__(self) -> None:
        self.client: Client | None = None
        self.pid = 0


_tracing = _Tracing()


def is_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the SDK's switch is on."""
    return any(environment.get(name, "").strip().lower() == "true" for name in SWITCHES)


@contextmanager
def tracing_of_a_run() -> Iterator[None]:
    """For as long as agents run: with the switch on and a key, a client that masks; at the end all is sent.

    What goes wrong at the service is said on standard error; no run fails for it.
    """
    if not is_wanted() or _tracing.client is not None:
        yield
        return
    from eval_pipeline.errors import EvalPipelineError
    from eval_pipeline.langsmith_service import NoService, connect

    lost: list[Exception] = []
    try:
        found = connect(on_lost=lost.append, before_sending=masked_operations)
    except EvalPipelineError as error:
        found = NoService(str(error))
    if isinstance(found, NoService):
        _say(f"traces are not sent: {found.reason}")
        yield
        return
    _tracing.client, _tracing.pid = found, os.getpid()
    try:
        yield
    finally:
        _tracing.client = None
        found.flush(timeout=LONGEST_FLUSH_S)
        if lost:
            _say(f"{len(lost)} requests with traces were lost ({', '.join(sorted({type(e).__name__ for e in lost}))})")


def traced(agent: str, example_id: str, trial: int, run_id: str) -> AbstractContextManager[Any]:
    """Around a graph: it is traced by the client of the run, or not at all. Nothing when the switch is off."""
    if not is_wanted():
        return nullcontext()
    from langsmith import tracing_context

    if _tracing.client is None or _tracing.pid != os.getpid() or "@" in agent:
        return tracing_context(enabled=False)
    told = {"agent": agent, "example": example_id, "trial": trial, "run_id": run_id}
    project = os.environ.get(PROJECT) or OWN_PROJECT
    return tracing_context(enabled=True, client=_tracing.client, project_name=project, metadata=told, tags=[agent])


def masked_operations(operations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the SDK is about to send, masked."""
    return [{**item, **{key: mask(item[key]) for key in MASKED if item.get(key) is not None}} for item in operations]


def _say(text: str) -> None:
    sys.stderr.write(f"LangSmith: {text}\n")
