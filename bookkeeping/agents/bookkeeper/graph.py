"""The Bookkeeper's graph: understand the record, select the treatment, compute the lines, check, post, report.

Where an instruction in words is given instead of a record, a first step has a model make the record of it.

    graph = build_graph()
    book = ledger.create_book(book_spec(inputs["book"], chain="larch"))
    outputs = graph.invoke(inputs, context=BookkeeperContext(book))

``inputs`` are those of record.py, ``outputs`` those of outputs.py. A refusal is an output with its reason. What raises
is a structure that is none (pydantic.ValidationError), a book other than the one described (ValueError), a history
that cannot be (HistoryError), a ledger that is gone (bookkeeping.ledger.LedgerUnavailable), and a model that gave no
usable answer (bookkeeping.models.ModelError).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from bookkeeping.agents.bookkeeper import desk, rulebook
from bookkeeping.agents.bookkeeper.entry import Booked
from bookkeeping.agents.bookkeeper.entry import post as post_entry
from bookkeeping.agents.bookkeeper.lines import ComputedLine
from bookkeeping.agents.bookkeeper.outputs import BookkeeperOutputs
from bookkeeping.agents.bookkeeper.record import BookkeeperInputs, BookState, Instruction
from bookkeeping.agents.bookkeeper.report import report as report_of
from bookkeeping.agents.bookkeeper.results import Refused, Stop
from bookkeeping.agents.bookkeeper.select import Choice
from bookkeeping.agents.bookkeeper.select import select as select_variant
from bookkeeping.agents.bookkeeper.understanding import Understood, book_terms
from bookkeeping.ledger import Book, BookSpec, Entry
from bookkeeping.models import Model


@dataclass(frozen=True, slots=True)
class BookkeeperContext:
    """What a run works on: the book in the ledger. It is posted to and read, never created or dropped.

    ``model`` reads instructions; records need none.
    """

    book: Book
    model: Model | None = None


class BookkeeperInput(TypedDict):
    """Plain JSON values; record.py and instruction.py say what they are. Either a record or an instruction."""

    book: Mapping[str, Any]
    record: NotRequired[Mapping[str, Any]]
    instruction: NotRequired[Mapping[str, Any]]


class _State(BookkeeperInput, BookkeeperOutputs, total=False):
    understood: Understood
    choice: Choice
    computed: tuple[ComputedLine, ...]
    entry: Entry
    result: Booked | Stop


def build_graph() -> CompiledStateGraph[_State, BookkeeperContext, BookkeeperInput, BookkeeperOutputs]:
    """The compiled graph. It holds nothing of a book: one serves any number of runs and threads."""
    rulebook.rulebook()  # read once here, and not by every thread at its first record
    graph = StateGraph(
        _State, context_schema=BookkeeperContext, input_schema=BookkeeperInput, output_schema=BookkeeperOutputs
    )
    graph.add_node("interpret", interpret)
    graph.add_node("understand", understand)
    graph.add_node("select", select)
    graph.add_node("compute", compute)
    graph.add_node("check", check)
    graph.add_node("post", post)
    graph.add_node("report", report)
    graph.add_conditional_edges(START, has_record, {True: "understand", False: "interpret"})
    graph.add_conditional_edges("interpret", has_result, {True: "report", False: "understand"})
    graph.add_conditional_edges("understand", has_result, {True: "report", False: "select"})
    graph.add_conditional_edges("select", has_result, {True: "report", False: "compute"})
    graph.add_conditional_edges("compute", has_result, {True: "report", False: "check"})
    graph.add_conditional_edges("check", has_result, {True: "report", False: "post"})
    graph.add_edge("post", "report")
    graph.add_edge("report", END)
    return graph.compile(name="bookkeeper")


def book_spec(
    state: Mapping[str, Any], chain: str, kind: Literal["live", "eval"] = "live", owner: str | None = None
) -> BookSpec:
    """The ledger's description of the book in ``inputs["book"]``. Raises pydantic.ValidationError.

    A book with a history is created with all periods open and all accounts active, as it was when that was posted;
    the graph closes what is closed after it.
    """
    book = BookState.model_validate(state)
    has_history = bool(book.history)
    return BookSpec(
        chain=chain,
        company=book.company,
        currency=book.currency,
        time_zone=book.time_zone,
        open_from=book.open_from,
        open_to=book.open_to,
        closed_through=None if has_history else book.closed_through,
        inactive_accounts=frozenset() if has_history else book.inactive_accounts,
        kind=kind,
        owner=owner,
    )


def has_record(state: _State) -> bool:
    """Whether there is a record already. Raises ValueError when there is both or neither."""
    if ("record" in state) == ("instruction" in state):
        raise ValueError("the inputs have a record or an instruction, one of them")
    return "record" in state


def interpret(state: _State, runtime: Runtime[BookkeeperContext]) -> dict[str, Any]:
    """Has the model make the record that an instruction asks for."""
    from bookkeeping.agents.bookkeeper.instruction import interpret as record_of

    if runtime.context.model is None:
        raise ValueError("an instruction in words needs a model")
    book = runtime.context.book
    instruction = Instruction.model_validate(state["instruction"])
    record = record_of(runtime.context.model, instruction, book.company, book.currency)
    return {"result": record} if isinstance(record, Refused) else {"record": record.model_dump(mode="json")}


def understand(state: _State, runtime: Runtime[BookkeeperContext]) -> dict[str, Any]:
    """Reads the record in the terms of the rules, after the history of its book is posted."""
    inputs = BookkeeperInputs.model_validate({"book": state["book"], "record": state["record"]})
    book = runtime.context.book
    terms = book_terms(rulebook.rulebook(), inputs.book)
    if isinstance(terms, Refused):
        return {"result": terms}
    if (book.company, book.currency) != (terms.company, terms.currency):
        raise ValueError(f"the inputs describe {terms.company} in {terms.currency}, the ledger's book is {book}")
    desk.post_history(rulebook.rulebook(), book, terms, inputs.book, inputs.record)
    understood = desk.understood_on_its_day(rulebook.rulebook(), book, terms, inputs.record)
    return {"result": understood} if isinstance(understood, Refused) else {"understood": understood}


def select(state: _State) -> dict[str, Any]:
    """Chooses the variant of the rule."""
    choice = select_variant(rulebook.rulebook(), state["understood"])
    return {"choice": choice} if isinstance(choice, Choice) else {"result": choice}


def compute(state: _State) -> dict[str, Any]:
    """Computes the lines."""
    lines = desk.lines_of(rulebook.rulebook(), state["choice"])
    return {"computed": lines} if isinstance(lines, tuple) else {"result": lines}


def check(state: _State, runtime: Runtime[BookkeeperContext]) -> dict[str, Any]:
    """Makes the entry, unless the book has the event already."""
    entry = desk.entry_of(runtime.context.book, state["choice"], state["computed"])
    return {"entry": entry} if isinstance(entry, Entry) else {"result": entry}


def post(state: _State, runtime: Runtime[BookkeeperContext]) -> dict[str, Any]:
    """Posts the entry and reads it back."""
    return {"result": post_entry(runtime.context.book, state["choice"], state["entry"])}


def report(state: _State) -> BookkeeperOutputs:
    """Hands back what came of it."""
    return report_of(state.get("choice"), state["result"])


def has_result(state: _State) -> bool:
    """Whether the work ended at this step: what is left is the report."""
    return "result" in state
