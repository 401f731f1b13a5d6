"""The compiled graph beside one that the source builds: nodes, edges, channels and the functions behind them."""

import inspect
from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any

from eval_pipeline.rules.attestation.comparison import Difference, Hole, Place
from eval_pipeline.rules.attestation.modules import comparison
from eval_pipeline.rules.attestation.reference import Reference

BUILD = "build_graph"
"""The function of an agent's ``graph`` module that compiles its graph."""

Injected = Sequence[tuple[Place, Any]]


def graph_differences(reference: Reference, module: str, graph: object) -> tuple[Sequence[Difference], Injected]:
    """What of ``graph`` is not as ``build_graph`` of the fresh module builds it, and what was injected into it.

    What ``build_graph`` takes is not known here: holes stand for it, first for what has no default, then for all.
    """
    build = getattr(reference.load(module), BUILD, None)
    if not callable(build):
        return [Difference(Place(module, BUILD), "it is not there")], ()
    last: tuple[Sequence[Difference], Injected] = ([], ())
    for wanted in _built(build):
        walk = comparison(reference)
        walk.push(graph, wanted, Place(module, BUILD))
        walk.run()
        last = (walk.differences, walk.injected)
        if not walk.differences:
            break
    return last


def _built(build: Any) -> Iterator[Any]:
    parameters = inspect.signature(build).parameters.values()
    takes = [item for item in parameters if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)]
    required = [item for item in takes if item.default is item.empty]
    for wanted in (required, takes) if len(required) < len(takes) else (required,):
        yield build(**{item.name: Hole(item.name) for item in wanted})


def engine_differences() -> Iterator[Difference]:
    """Methods of LangGraph's own classes that were replaced: a graph is no better than what runs it."""
    for kind in _engine():
        for name, item in list(vars(kind).items()):
            function = inspect.unwrap(getattr(item, "__func__", item)) if callable(item) else item
            if isinstance(function, FunctionType):
                if function.__globals__.get("__name__", "").partition(".")[0] not in _OF_ENGINE:
                    yield Difference(Place(kind.__module__, f"{kind.__qualname__}.{name}"), _from(function))
            elif type(item).__module__.startswith("unittest"):
                yield Difference(Place(kind.__module__, f"{kind.__qualname__}.{name}"), "it is a mock")


_OF_ENGINE = (
    "langgraph",
    "langchain_core",
    "typing",
    "typing_extensions",
    "dataclasses",
    "functools",
    "contextlib",
    "abc",
)


def _from(function: FunctionType) -> str:
    return f"it comes from {function.__code__.co_filename}"


def _engine() -> tuple[type, ...]:
    from langgraph._internal._runnable import RunnableCallable, RunnableSeq
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.pregel import Pregel
    from langgraph.pregel._loop import PregelLoop, SyncPregelLoop
    from langgraph.pregel._read import PregelNode
    from langgraph.pregel._runner import PregelRunner
    from langgraph.pregel._write import ChannelWrite

    return (
        RunnableCallable,
        RunnableSeq,
        CompiledStateGraph,
        Pregel,
        PregelLoop,
        SyncPregelLoop,
        PregelNode,
        PregelRunner,
        ChannelWrite,
    )
