"""The Clerk's graph, with two ways: intake (identify, govern, file, queue) and chat (gate, look up, reply).

    graph = build_graph()
    outputs = graph.invoke({"company": …, "submission": …}, context=ClerkContext(queue, sink, model))

``inputs`` are those of inputs.py, ``outputs`` those of outputs.py. Injected are the two storage ports and the model,
which only some inputs need (needs.py). What raises is a structure that is none (pydantic.ValidationError), a model that
is needed and not there or that gave no usable answer (bookkeeping.models.ModelError), and storage that does not answer
(bookkeeping.intake.IntakeUnavailable, OSError).
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from bookkeeping.agents.clerk import asking, governance, identify, keeping, report
from bookkeeping.agents.clerk.fingerprint import Fingerprint
from bookkeeping.agents.clerk.fingerprint import fingerprint as fingerprint_of
from bookkeeping.agents.clerk.governance import Case, Ruling
from bookkeeping.agents.clerk.identify import Identified
from bookkeeping.agents.clerk.inputs import ClerkInputs, Message, Submission, read_inputs
from bookkeeping.agents.clerk.lookup import Shown
from bookkeeping.agents.clerk.lookup import look_up as records_for
from bookkeeping.agents.clerk.needs import is_answered
from bookkeeping.agents.clerk.outputs import ClerkOutputs
from bookkeeping.agents.clerk.scope import scope_by_rules
from bookkeeping.agents.clerk.tables import data
from bookkeeping.intake import FileSink, IntakeQueue
from bookkeeping.models import Model, ModelUnavailable


@dataclass(frozen=True, slots=True)
class ClerkContext:
    """What a run works with. ``model`` may be None for inputs that need none."""

    queue: IntakeQueue
    sink: FileSink
    model: Model | None = None


class ClerkInput(TypedDict, total=False):
    """Plain JSON values; inputs.py says what they are."""

    company: Mapping[str, Any]
    submission: Mapping[str, Any]
    message: Mapping[str, Any]


class _State(ClerkInput, ClerkOutputs, total=False):
    inputs: ClerkInputs
    fingerprint: Fingerprint | None
    identified: Identified
    case: Case
    ruling: Ruling
    paths: tuple[str, ...]
    records: tuple[Shown, ...]


def build_graph() -> CompiledStateGraph[_State, ClerkContext, ClerkInput, ClerkOutputs]:
    """The compiled graph. It holds nothing of a submission: one serves any number of runs and threads."""
    graph = StateGraph(_State, context_schema=ClerkContext, input_schema=ClerkInput, output_schema=ClerkOutputs)
    graph.add_node("receive", receive)
    graph.add_node("take_fingerprint", take_fingerprint)
    graph.add_node("take_declaration", take_declaration)
    graph.add_node("read_document", read_document)
    graph.add_node("govern", govern)
    graph.add_node("file", file)
    graph.add_node("queue", queue)
    graph.add_node("gate", gate)
    graph.add_node("ask_scope", ask_scope)
    graph.add_node("look_up", look_up)
    graph.add_node("answer", answer)
    graph.add_node("refuse", refuse)
    graph.add_node("report_intake", report_intake)
    graph.add_node("report_chat", report_chat)
    graph.add_edge(START, "receive")
    graph.add_conditional_edges("receive", way, {"intake": "take_fingerprint", "chat": "gate"})
    graph.add_conditional_edges("take_fingerprint", must_be_read, {True: "read_document", False: "take_declaration"})
    graph.add_edge("take_declaration", "govern")
    graph.add_edge("read_document", "govern")
    graph.add_edge("govern", "file")
    graph.add_edge("file", "queue")
    graph.add_edge("queue", "report_intake")
    graph.add_edge("report_intake", END)
    after_scope: dict[Hashable, str] = {"answer": "look_up", "refuse": "refuse", "sort": "report_chat"}
    graph.add_conditional_edges("gate", after_gate, {"ask": "ask_scope", **after_scope})
    graph.add_conditional_edges("ask_scope", after_sorting, after_scope)
    graph.add_edge("look_up", "answer")
    graph.add_edge("answer", "report_chat")
    graph.add_edge("refuse", "report_chat")
    graph.add_edge("report_chat", END)
    return graph.compile(name="clerk")


def receive(state: _State) -> dict[str, Any]:
    """Reads the inputs."""
    return {"inputs": read_inputs(state)}


def way(state: _State) -> Literal["intake", "chat"]:
    """Whether it is a submission or a message."""
    return "intake" if state["inputs"].submission is not None else "chat"


def take_fingerprint(state: _State) -> dict[str, Any]:
    """Takes the fingerprint of the principal document."""
    principal = _submission(state).principal
    return {"fingerprint": None if principal is None else fingerprint_of(principal)}


def must_be_read(state: _State) -> bool:
    """Whether the document has to say itself what it is."""
    return identify.must_be_read(_submission(state))


def take_declaration(state: _State) -> dict[str, Any]:
    """Takes type and fields as they are declared."""
    return {"identified": identify.as_declared(_submission(state))}


def read_document(state: _State, runtime: Runtime[ClerkContext]) -> dict[str, Any]:
    """Has the Typewriter's graph read the principal document."""
    principal = _submission(state).principal
    content = principal.content if principal is not None else ""
    return {"identified": identify.as_read(_model(runtime), content, state["inputs"].company.name)}


def govern(state: _State) -> dict[str, Any]:
    """Decides by the rules."""
    case = governance.case_of(state["inputs"], _submission(state), state["identified"], state["fingerprint"])
    return {"case": case, "ruling": governance.govern(case)}


def file(state: _State, runtime: Runtime[ClerkContext]) -> dict[str, Any]:
    """Files the attachments, unless the decision leaves nothing to file."""
    area = keeping.area_for(state["case"], state["ruling"])
    paths = () if area is None else keeping.file_documents(runtime.context.sink, state["case"], area)
    return {"paths": paths, "filed": keeping.filed_area(runtime.context.sink, paths)}


def queue(state: _State, runtime: Runtime[ClerkContext]) -> dict[str, Any]:
    """Queues what somebody or something has to go on with. After filing: what is queued can be read."""
    case, ruling = state["case"], state["ruling"]
    name = keeping.queue_for(case, ruling)
    if name is None:
        return {"queued": None}
    return {"queued": keeping.put_into_queue(runtime.context.queue, case, ruling, state["paths"], name)}


def report_intake(state: _State) -> ClerkOutputs:
    """Hands back what was decided and kept."""
    kept = keeping.Kept(state["queued"], state["filed"], state["paths"])
    return report.of_intake(state["identified"], state["ruling"], kept)


def gate(state: _State) -> dict[str, Any]:
    """Decides the scope where the rules can."""
    scope = scope_by_rules(state["inputs"].company, _message(state))
    return {"scope": scope, "scope_decided_by": None if scope is None else "rules"}


def after_gate(state: _State) -> Literal["ask", "answer", "refuse", "sort"]:
    """Where a message goes after the rules."""
    return "ask" if state["scope"] is None else after_sorting(state)


def after_sorting(state: _State) -> Literal["answer", "refuse", "sort"]:
    """Where a message goes whose scope is known."""
    scope, message = state["scope"] or "", _message(state)
    if is_answered(scope, message):
        return "answer"
    return "refuse" if message.reply else "sort"


def ask_scope(state: _State, runtime: Runtime[ClerkContext]) -> dict[str, Any]:
    """Asks the model for the scope."""
    scope = asking.find_scope(_model(runtime), state["inputs"].company, _message(state))
    return {"scope": scope, "scope_decided_by": "model"}


def look_up(state: _State, runtime: Runtime[ClerkContext]) -> dict[str, Any]:
    """Finds the records that the user may see."""
    is_small = _model(runtime).is_small
    return {"records": records_for(state["inputs"].company, _message(state), is_small=is_small)}


def answer(state: _State, runtime: Runtime[ClerkContext]) -> dict[str, Any]:
    """Has the model answer from the records."""
    company, message = state["inputs"].company, _message(state)
    reply, cites = asking.write_reply(_model(runtime), company, message, state["records"])
    return {"reply": reply, "cites": list(cites)}


def refuse(state: _State) -> dict[str, Any]:
    """Says that it is out of scope, in fixed words."""
    return {"reply": data("refusals")[state["scope"]], "cites": []}


def report_chat(state: _State) -> ClerkOutputs:
    """Hands back the scope and the reply."""
    return report.of_chat(state["scope"], state["scope_decided_by"], state.get("reply"), state.get("cites", []))


def _submission(state: _State) -> Submission:
    submission = state["inputs"].submission
    if submission is None:
        raise TypeError("a message took the way of submissions")
    return submission


def _message(state: _State) -> Message:
    message = state["inputs"].message
    if message is None:
        raise TypeError("a submission took the way of messages")
    return message


def _model(runtime: Runtime[ClerkContext]) -> Model:
    if runtime.context.model is None:
        raise ModelUnavailable("this submission or message needs a model, and none was given")
    return runtime.context.model
