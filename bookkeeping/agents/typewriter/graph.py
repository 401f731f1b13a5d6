"""The Typewriter's graph: read, classify (family, then type), extract, coerce, ground, propose.

    graph = build_graph()
    outputs = graph.invoke({"document": text, "company": "Larch Trading Ltd"}, context=TypewriterContext(model))

The model is the only thing that is injected, and nothing is stored. A text without a document gives no proposal. What
raises is a model that gave no usable answer (bookkeeping.models.ModelError).
"""

from dataclasses import dataclass
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from bookkeeping.agents.typewriter import asking, report
from bookkeeping.agents.typewriter.outputs import TypewriterOutputs
from bookkeeping.agents.typewriter.paper import Copied, Paper, Part, Typed, read_paper
from bookkeeping.documents import Evidence, Record, Source, evidence_of, fabricated
from bookkeeping.documents import coerce as coerce_record
from bookkeeping.models import Model


@dataclass(frozen=True, slots=True)
class TypewriterContext:
    """What a run works with."""

    model: Model


class TypewriterInput(TypedDict):
    """``document`` is a text, ``company`` the name of who we are: it decides between types that mirror one another."""

    document: str
    company: str


class _State(TypewriterInput, TypewriterOutputs, total=False):
    paper: Paper
    parts: tuple[Part, ...]
    typed: tuple[Typed, ...]
    copied: tuple[Copied, ...]
    evidence: tuple[Evidence, ...]
    records: tuple[Record, ...]
    invented: tuple[tuple[str, ...], ...]


def build_graph() -> CompiledStateGraph[_State, TypewriterContext, TypewriterInput, TypewriterOutputs]:
    """The compiled graph. It holds nothing of a document: one serves any number of runs and threads."""
    graph = StateGraph(
        _State, context_schema=TypewriterContext, input_schema=TypewriterInput, output_schema=TypewriterOutputs
    )
    graph.add_node("read", read)
    graph.add_node("classify_family", classify_family)
    graph.add_node("classify_type", classify_type)
    graph.add_node("extract", extract)
    graph.add_node("coerce", coerce)
    graph.add_node("ground", ground)
    graph.add_node("propose", propose)
    graph.add_edge(START, "read")
    graph.add_conditional_edges("read", has_text, {True: "classify_family", False: "propose"})
    graph.add_conditional_edges("classify_family", has_documents, {True: "classify_type", False: "propose"})
    graph.add_edge("classify_type", "extract")
    graph.add_edge("extract", "coerce")
    graph.add_edge("coerce", "ground")
    graph.add_edge("ground", "propose")
    graph.add_edge("propose", END)
    return graph.compile(name="typewriter")


def read(state: _State) -> dict[str, Any]:
    """Reads the text in lines."""
    return {"paper": read_paper(state["document"])}


def has_text(state: _State) -> bool:
    """Whether there is anything to read."""
    return not state["paper"].is_blank


def classify_family(state: _State, runtime: Runtime[TypewriterContext]) -> dict[str, Any]:
    """Finds the documents and the family of each."""
    return {"parts": asking.find_parts(runtime.context.model, state["paper"], state["company"])}


def has_documents(state: _State) -> bool:
    """Whether the text holds a document."""
    return bool(state["parts"])


def classify_type(state: _State, runtime: Runtime[TypewriterContext]) -> dict[str, Any]:
    """Finds the type of each within its family."""
    model, paper = runtime.context.model, state["paper"]
    return {"typed": tuple(asking.find_type(model, paper, part, state["company"]) for part in state["parts"])}


def extract(state: _State, runtime: Runtime[TypewriterContext]) -> dict[str, Any]:
    """Has the values of each copied as they are written."""
    model, paper = runtime.context.model, state["paper"]
    return {"copied": tuple(asking.copy_values(model, paper, typed) for typed in state["typed"])}


def coerce(state: _State) -> dict[str, Any]:
    """Reads the values, each document by its own evidence."""
    evidence = tuple(evidence_of(item.typed.part.text(state["paper"])) for item in state["copied"])
    records = (
        coerce_record(item.typed.document_type, item.fields, item.rows, found)
        for item, found in zip(state["copied"], evidence, strict=True)
    )
    return {"evidence": evidence, "records": tuple(records)}


def ground(state: _State) -> dict[str, Any]:
    """Finds the values that the text does not have."""
    text = state["paper"].text
    invented = (
        fabricated(record, typed.document_type.payload, Source(text, evidence))
        for typed, record, evidence in zip(state["typed"], state["records"], state["evidence"], strict=True)
    )
    return {"invented": tuple(invented)}


def propose(state: _State) -> TypewriterOutputs:
    """Hands back what was found."""
    parts = (state.get("typed", ()), state.get("records", ()), state.get("invented", ()))
    return report.outputs(list(zip(*parts, strict=True)))
