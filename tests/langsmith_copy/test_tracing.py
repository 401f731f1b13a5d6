"""The SDK's own tracing, switched on: what goes out is masked, and nothing of a pack goes out."""

from typing import TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

from eval_pipeline.langsmith_tracing import tracing_of_a_run
from eval_pipeline.trace import recording, run_graph
from tests.langsmith_copy.service import KEY

SECRET = "sk-ant-api03-abcdefghijklmnopqrstuv"


class State(TypedDict):
    text: str


def read(state):
    if state["text"] == "broken":
        raise ValueError(f"no good: {SECRET}")
    return {"text": f"read {state['text']} {SECRET}"}


@pytest.fixture
def traced_run(service, monkeypatch):
    """Runs a graph as an attempt of an agent, with the switch of the SDK as told."""
    builder = StateGraph(State)
    builder.add_node("read", read)
    builder.add_edge(START, "read")
    builder.add_edge("read", END)
    graph = builder.compile()

    def run(agent="sampler", switch="true", key=KEY, text="this"):
        monkeypatch.setenv("LANGSMITH_TRACING", switch)
        monkeypatch.setenv("LANGSMITH_API_KEY", key)
        monkeypatch.setenv("LANGSMITH_ENDPOINT", service.url)
        with tracing_of_a_run(), recording((agent, "e1", 0, "run-1")) as recorder:
            outputs = run_graph(graph, {"text": text})
        return outputs, recorder.spans

    return run


def test_nodes_are_traced_by_the_sdk_and_secrets_are_masked(service, traced_run):
    outputs, spans = traced_run()
    assert outputs == {"text": f"read this {SECRET}"}
    assert [span.name for span in spans] == ["read"]
    names = {row["name"]: row for row in service.runs.values()}
    assert {"LangGraph", "read"} <= set(names)
    assert names["read"]["parent_run_id"] == names["LangGraph"]["id"]
    assert names["LangGraph"]["session_name"] == "eval-pipeline"
    assert names["LangGraph"]["extra"]["metadata"]["example"] == "e1"
    assert names["read"]["outputs"] == {"text": "read this «masked»"}
    assert SECRET not in str(service.runs)


def test_an_error_is_masked_too(service, traced_run):
    with pytest.raises(ValueError, match="no good"):
        traced_run(text="broken")
    assert "no good" in str(service.runs)
    assert SECRET not in str(service.runs)


@pytest.mark.parametrize("changes", [{"agent": "sampler@customers"}, {"switch": "false"}, {"switch": ""}])
def test_nothing_of_a_pack_and_nothing_unasked_goes_out(service, traced_run, changes):
    outputs, spans = traced_run(**changes)
    assert outputs["text"].startswith("read this")
    assert [span.name for span in spans] == ["read"]
    assert service.runs == {}


def test_a_service_that_is_not_there_is_told_and_fails_no_run(service, traced_run, capsys):
    outputs, _ = traced_run(key="")
    assert outputs["text"].startswith("read this")
    assert capsys.readouterr().err == "LangSmith: traces are not sent: no LangSmith: set LANGSMITH_API_KEY\n"
