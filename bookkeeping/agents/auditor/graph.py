"""The Auditor's graph: load the book, then verify the chain and run the families of checks side by side, rate, report.

    graph = build_graph()
    with Reader(url) as reader, reader.snapshot() as snapshot:
        outputs = graph.invoke(inputs, context=AuditorContext(snapshot))

``inputs`` are those of inputs.py, ``outputs`` those of outputs.py. The graph reads one snapshot and writes nothing.
What raises: inputs that are none (pydantic.ValidationError), a check that is not in the catalogue (ValueError), a book
that is not there (LedgerRefusal unknown_book), a ledger that is gone (LedgerUnavailable).
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from bookkeeping.agents.auditor.book import AuditedBook
from bookkeeping.agents.auditor.book import load as load_book
from bookkeeping.agents.auditor.catalogue import CHAIN, Check, catalogue
from bookkeeping.agents.auditor.chain.verify import verify
from bookkeeping.agents.auditor.finding import ChainResult, Examined, Finding
from bookkeeping.agents.auditor.inputs import AuditorInputs
from bookkeeping.agents.auditor.outputs import AuditorOutputs
from bookkeeping.agents.auditor.rating import rated
from bookkeeping.agents.auditor.reading import Snapshot
from bookkeeping.agents.auditor.report import report as report_of
from bookkeeping.agents.auditor.sql_checks import examine


@dataclass(frozen=True, slots=True)
class AuditorContext:
    """What a run reads: a snapshot of the ledger's database. It is never written to."""

    snapshot: Snapshot


class AuditorInput(TypedDict):
    """Plain JSON values; inputs.py says what they are."""

    chain: str
    run: Mapping[str, Any]
    anchors: Sequence[Mapping[str, Any]]


class _State(AuditorInput, AuditorOutputs, total=False):
    inputs: AuditorInputs
    book: AuditedBook
    verified: ChainResult
    examined: Annotated[list[Examined], operator.add]
    rated: tuple[Finding, ...]


def build_graph() -> CompiledStateGraph[_State, AuditorContext, AuditorInput, AuditorOutputs]:
    """The compiled graph. It holds nothing of a book: one serves any number of runs and threads."""
    graph = StateGraph(_State, context_schema=AuditorContext, input_schema=AuditorInput, output_schema=AuditorOutputs)
    side_by_side = (
        verify_chain, check_balance, check_duplicates, check_digit_tests, check_period, check_controls, check_accounts,
        check_tax, check_matching,
    )  # fmt: skip
    graph.add_node("load", load)
    for node in side_by_side:
        graph.add_node(node.__name__, node)
        graph.add_edge("load", node.__name__)
    graph.add_node("rate", rate)
    graph.add_node("report", report)
    graph.add_edge(START, "load")
    graph.add_edge([node.__name__ for node in side_by_side], "rate")
    graph.add_edge("rate", "report")
    graph.add_edge("report", END)
    return graph.compile(name="auditor")


def load(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """Finds the book, and what is material in it."""
    inputs = AuditorInputs.model_validate({"chain": state["chain"], "run": state["run"], "anchors": state["anchors"]})
    known = {check.id for check in catalogue()}
    run = inputs.run
    for name in (*(run.checks or ()), *run.parameters, *(item.check for item in run.exemptions)):
        if name not in known:
            raise ValueError(f"there is no check {name!r}")
    with runtime.context.snapshot.session() as session:
        return {"inputs": inputs, "book": load_book(session, inputs.chain, run)}


def verify_chain(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """Verifies the hash chain. It is read whatever checks a run names: how many entries there are is always told."""
    wanted = _wanted(state, CHAIN)
    parameters = {check.id: check.parameters for check in catalogue()} | {check.id: given for check, given in wanted}
    with runtime.context.snapshot.session() as session:
        ids = tuple(check.id for check, _ in wanted)
        examined, verified = verify(session, state["book"], state["inputs"], ids, parameters)
    return {"examined": [examined], "verified": verified}


def check_balance(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """Debits against credits, journal against tables, ledger against subledger."""
    return _family(state, runtime, "balance")


def check_duplicates(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """Payments and invoices that are there twice."""
    return _family(state, runtime, "duplicates")


def check_digit_tests(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """First digits, round amounts, amounts below a limit."""
    return _family(state, runtime, "digit_tests")


def check_period(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """When an entry was made, and for when."""
    return _family(state, runtime, "period")


def check_controls(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """Who did what, with whose approval, on what document."""
    return _family(state, runtime, "controls")


def check_accounts(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """Accounts that should be empty, above zero, or in use."""
    return _family(state, runtime, "accounts")


def check_tax(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """VAT on documents and in the books."""
    return _family(state, runtime, "tax")


def check_matching(state: _State, runtime: Runtime[AuditorContext]) -> dict[str, Any]:
    """Orders, receipts, invoices, statements and payments against one another."""
    return _family(state, runtime, "matching")


def rate(state: _State) -> dict[str, Any]:
    """Gives every finding its final severity."""
    order = {check.id: place for place, check in enumerate(catalogue())}
    found = [finding for family in state["examined"] for finding in family.findings]
    return {"rated": rated(found, state["inputs"].run.exemptions, order)}


def report(state: _State) -> AuditorOutputs:
    """Hands back what came of it."""
    return report_of(state["book"], catalogue(), state["verified"], state["examined"], state["rated"])


def _family(state: _State, runtime: Runtime[AuditorContext], family: str) -> dict[str, Any]:
    with runtime.context.snapshot.session() as session:
        return {"examined": [examine(session, state["book"], state["inputs"].run, _wanted(state, family))]}


def _wanted(state: _State, family: str) -> list[tuple[Check, Mapping[str, Any]]]:
    run = state["inputs"].run
    return [
        (check, {**check.parameters, **run.parameters.get(check.id, {})})
        for check in catalogue()
        if check.family == family and (run.checks is None or check.id in run.checks)
    ]
