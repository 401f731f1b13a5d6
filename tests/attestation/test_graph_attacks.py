"""Attacks on the compiled graph and on what is handed to it: refused before a node runs."""

import functools
import re
from collections.abc import Callable
from typing import Any, Protocol
from unittest import mock

import pytest

from bookkeeping.ports import storage_port
from eval_pipeline.guard import ReasoningSubstituted, guarded_by
from eval_pipeline.outcome import FailureKind, Outcome
from eval_pipeline.rules.attestation import Attestation
from eval_pipeline.target import RunOne, Substitution
from eval_pipeline.trace import run_graph
from tests import build
from tests.attestation.agent import Agent

NOT_ALLOWED = "neither a declared storage port nor a registered model"


def refused(agent: Agent, graph: object, **given: Any) -> str:
    """Why this graph may not run; fails when it may."""
    attestation = agent.attestation()
    assert attestation.differences() == ()
    with guarded_by(attestation), pytest.raises(ReasoningSubstituted) as told:
        run_graph(graph, {"word": "rose"}, **given)  # type: ignore[arg-type]
    return str(told.value)


def built(agent: Agent, **nodes: Callable[..., Any]) -> Any:
    """The agent's graph, built as its source builds it but for these nodes."""
    from langgraph.graph import END, START, StateGraph

    module = agent.module("graph")
    graph = StateGraph(module.State)
    graph.add_node("classify", nodes.get("classify", module.classify))
    graph.add_node("say", nodes.get("say", module.say))
    graph.add_edge(START, "classify")
    graph.add_conditional_edges("classify", nodes.get("is_known", module.is_known), {True: "say", False: END})
    graph.add_edge("say", END)
    if "extra" in nodes:
        graph.add_node("extra", nodes["extra"])
        graph.add_edge("say", "extra")
    return graph.compile()


def test_the_same_graph_built_elsewhere_is_the_same_graph(agent: Agent) -> None:
    attestation = agent.attestation()
    assert attestation.differences() == ()
    with guarded_by(attestation):
        assert run_graph(built(agent), {"word": "rose"})["said"] == "ROSE!"


def test_a_scripted_node(agent: Agent) -> None:
    told = refused(agent, built(agent, classify=lambda state: {"kind": "flower"}))
    assert f"{agent.package}.graph.build_graph" in told
    assert "is not the one in" in told


def test_a_node_wrapped_in_a_function(agent: Agent) -> None:
    original = agent.module("graph").classify

    @functools.wraps(original)
    def wrapper(state: dict[str, Any]) -> Any:
        return {**original(state), "kind": "flower"}

    assert "is not the one in" in refused(agent, built(agent, classify=wrapper))


def test_a_node_in_a_partial(agent: Agent) -> None:
    partial = functools.partial(agent.module("graph").classify)
    assert "is not the one in" in refused(agent, built(agent, classify=partial))


def test_a_node_in_a_runnable(agent: Agent) -> None:
    from langchain_core.runnables import RunnableLambda

    runnable = RunnableLambda(agent.module("graph").classify)
    assert "is not the one in" in refused(agent, built(agent, classify=runnable))


def test_a_conditional_edge_replaced(agent: Agent) -> None:
    assert "is not the one in" in refused(agent, built(agent, is_known=lambda state: True))


def test_one_node_more(agent: Agent) -> None:
    assert "is not the one in" in refused(agent, built(agent, extra=agent.module("graph").say))


def test_a_node_replaced_after_the_graph_was_compiled(agent: Agent) -> None:
    graph = agent.module("graph").build_graph()
    graph.nodes["say"].bound.func = lambda state: {"said": "ROSE!"}
    assert re.search(r"build_graph\.\S*say\.\w+\.func is not the one in", refused(agent, graph))


def test_a_node_replaced_in_a_graph_that_was_checked_before(agent: Agent) -> None:
    attestation = agent.attestation()
    assert attestation.differences() == ()
    graph = agent.module("graph").build_graph()
    attestation.check(graph, {})
    graph.nodes["say"].bound.func = lambda state: {"said": "ROSE!"}
    (told,) = attestation.differences()
    assert re.search(r"build_graph\.\S*say\.\w+\.func is not the one in", told.message)


def test_an_edge_bent_after_the_graph_was_compiled(agent: Agent) -> None:
    graph = agent.module("graph").build_graph()
    graph.nodes["say"].triggers[:] = ["branch:to:classify"]
    assert "triggers" in refused(agent, graph)


def test_a_stream_put_on_the_graph(agent: Agent) -> None:
    graph = agent.module("graph").build_graph()
    graph.stream = lambda *_, **__: iter([("values", {"kind": "flower"})])
    assert "is not the one in" in refused(agent, graph)


class Scripted:
    """Something with a ``stream`` that answers as it was told."""

    output_channels = ("kind",)

    def stream(self, *_: object, **__: object) -> Any:
        yield "values", {"kind": "flower"}


def test_something_else_than_a_graph(agent: Agent) -> None:
    assert "is not the one in" in refused(agent, Scripted())


def test_a_mock_in_the_place_of_a_graph(agent: Agent) -> None:
    assert "is not the one in" in refused(agent, mock.MagicMock())


def test_a_subclass_of_a_graph(agent: Agent) -> None:
    graph = agent.module("graph").build_graph()
    kind = type(graph)
    graph.__class__ = type("CompiledStateGraph", (kind,), {"stream": Scripted.stream, "__module__": kind.__module__})
    assert "is not the one in" in refused(agent, graph)


def test_the_engine_patched(agent: Agent) -> None:
    from langgraph.pregel import Pregel

    attestation = agent.attestation()
    with mock.patch.object(Pregel, "stream", Scripted.stream):
        told = [item.message for item in attestation.differences()]
    assert any(line.startswith("langgraph.pregel.main.Pregel.stream is not the one") for line in told), told
    assert attestation.differences() == ()


class ScriptedClassifier:
    """Knows the answers."""

    def classify(self, word: str) -> str:
        return "flower"


def desk(agent: Agent, queue: object) -> object:
    """What the graph is given, with something in it."""
    return agent.module("graph").Desk(queue)


def test_a_scripted_classifier_passed_in_the_context(agent: Agent) -> None:
    graph = agent.module("graph").build_graph()
    told = refused(agent, graph, context=desk(agent, ScriptedClassifier()))
    assert "context.queue is a tests.attestation.test_graph_attacks.ScriptedClassifier" in told


@pytest.mark.parametrize(
    "value",
    [ScriptedClassifier(), mock.Mock(), lambda word: "flower", ScriptedClassifier, functools.partial(str.upper)],
    ids=["object", "mock", "function", "class", "partial"],
)
def test_a_substitute_passed_in_the_configuration(agent: Agent, value: object) -> None:
    graph = agent.module("graph").build_graph()
    told = refused(agent, graph, config={"configurable": {"classifier": value}})
    assert told.startswith("config.configurable.classifier is a")
    assert NOT_ALLOWED in told


def test_a_subclass_of_what_may_be_passed(agent: Agent) -> None:
    judge = agent.module("steps").Judge
    attestation = agent.attestation()
    attestation.check(agent.module("graph").build_graph(), {"context": desk(agent, judge())})
    lenient = type("Judge", (judge,), {"__module__": judge.__module__, "decide": lambda self, word: "long"})
    told = refused(agent, agent.module("graph").build_graph(), context=desk(agent, lenient()))
    assert NOT_ALLOWED in told


def test_a_method_covered_on_the_object_that_is_passed(agent: Agent) -> None:
    judge = agent.module("steps").Judge()
    judge.__dict__["decide"] = lambda word: "long"
    told = refused(agent, agent.module("graph").build_graph(), context=desk(agent, judge))
    assert "context.queue.decide covers a method" in told


@storage_port
class Queue(Protocol):
    """Keeps what is to be done."""

    def put(self, item: str) -> None: ...


class QueueInMemory:
    """A double of the queue."""

    def __init__(self) -> None:
        self.items: list[str] = []

    def put(self, item: str) -> None:
        self.items.append(item)


def test_a_declared_double_of_a_storage_port_may_be_passed_and_no_other(agent: Agent) -> None:
    object.__setattr__(agent.target, "substitutions", (Substitution(Queue, QueueInMemory),))
    attestation = Attestation(agent.entry, agent.target)
    graph = agent.module("graph").build_graph()
    attestation._check_graph = lambda *_: None  # type: ignore[method-assign]
    attestation.check(graph, {"context": desk(agent, QueueInMemory())})
    with pytest.raises(ReasoningSubstituted, match=NOT_ALLOWED):
        attestation.check(graph, {"context": desk(agent, ScriptedClassifier())})


INJECTED = ("def build_graph():", "def build_graph(judge, *, mark='!'):")
CLOSED_OVER = (
    'graph.add_node("say", say)',
    'graph.add_node("say", lambda state: {"said": judge.decide(state["word"]) + mark})',
)


@pytest.fixture
def injecting(agent: Agent) -> Agent:
    """The agent, with a graph whose builder takes what a node works with."""
    agent.edit("graph.py", *INJECTED)
    agent.edit("graph.py", *CLOSED_OVER)
    return agent


def test_what_a_builder_takes_may_be_an_object_of_the_agent(injecting: Agent) -> None:
    graph = injecting.module("graph").build_graph(injecting.module("steps").Judge())
    attestation = injecting.attestation()
    with guarded_by(attestation):
        assert run_graph(graph, {"word": "rose"})["said"] == "short!"


@pytest.mark.parametrize("mark", ["!", "?"])
def test_what_a_builder_takes_may_not_be_a_scripted_classifier(injecting: Agent, mark: str) -> None:
    classifier = mock.Mock(spec=["decide"])
    graph = injecting.module("graph").build_graph(classifier, mark=mark)
    assert NOT_ALLOWED in refused(injecting, graph)


def attempted(agent: Agent, run_one: RunOne) -> Outcome:
    """The outcome of an attempt by this function in a run of the agent."""
    from eval_pipeline.attempt import run_attempt

    attestation = agent.attestation()
    assert attestation.differences() == ()
    with guarded_by(attestation):
        return run_attempt(build.task(inputs={"word": "rose"}), run_one, 10_000)


def test_an_attempt_with_a_substitute_is_refused_and_says_so(agent: Agent) -> None:
    graph = built(agent, classify=lambda state: {"kind": "flower"})
    outcome = attempted(agent, lambda inputs, attempt: run_graph(graph, inputs))
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.REFUSED
    assert outcome.failure.message.startswith("reasoning substituted: ")
    assert outcome.spans == ()


def test_a_target_that_answers_without_running_a_graph_is_refused(agent: Agent) -> None:
    outcome = attempted(agent, lambda inputs, attempt: {"kind": "flower", "said": "ROSE!"})
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.REFUSED
    assert "it ran no graph" in outcome.failure.message


def test_a_target_that_swallows_the_refusal_is_refused_all_the_same(agent: Agent) -> None:
    def swallows(inputs: dict[str, Any], attempt: object) -> dict[str, Any]:
        try:
            return dict(run_graph(Scripted(), inputs))
        except ReasoningSubstituted:
            return {"kind": "flower", "said": "ROSE!"}

    outcome = attempted(agent, swallows)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.REFUSED


def test_the_honest_attempt_is_completed(agent: Agent) -> None:
    graph = agent.module("graph").build_graph()
    outcome = attempted(agent, lambda inputs, attempt: run_graph(graph, inputs))
    assert outcome.failure is None
    assert outcome.outputs == {"word": "rose", "kind": "flower", "said": "ROSE!"}
