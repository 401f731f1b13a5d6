"""Attestation sees what would replace the Clerk's reasoning, the Typewriter's that it uses, or one of its stores."""

from collections.abc import Iterator
from typing import Any

import pytest

from bookkeeping.agents.clerk import build_graph, scope
from bookkeeping.agents.clerk.governance import duplicates, ruling
from bookkeeping.agents.clerk.graph import ClerkContext
from bookkeeping.agents.clerk.tables import Reason, reasons
from bookkeeping.agents.typewriter import asking
from eval_pipeline.doubles.clerk import MemoryQueue, MemorySink
from eval_pipeline.guard import ReasoningSubstituted, guarded_by
from eval_pipeline.registry import agent
from eval_pipeline.rules.attestation import Attestation
from eval_pipeline.settings import settings
from eval_pipeline.suite import AgentSuite, load_agent
from eval_pipeline.trace import run_graph
from tests.clerk.cases import inputs


@pytest.fixture(scope="module")
def suite() -> AgentSuite:
    return load_agent(agent("bookkeeping.agents.clerk"), settings().datasets)


@pytest.fixture
def attestation(suite: AgentSuite) -> Iterator[Attestation]:
    fresh = Attestation.of(suite)
    with guarded_by(fresh):
        yield fresh


def told(suite: AgentSuite) -> str:
    return "\n".join(offence.message for offence in Attestation.of(suite).differences())


def test_the_clerk_runs_as_it_is_with_its_doubles(attestation: Attestation) -> None:
    outputs = run_graph(build_graph(), inputs(), context=ClerkContext(MemoryQueue(), MemorySink()))
    assert outputs["decision"] == "accept"
    assert attestation.differences() == ()


def lenient(case: Any) -> Iterator[str]:
    yield from ()


def test_a_rule_of_governance_that_was_replaced_is_told(suite: AgentSuite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruling, "duplicates", lenient)
    assert "bookkeeping.agents.clerk.governance.ruling.duplicates is not the one in" in told(suite)
    monkeypatch.undo()
    monkeypatch.setattr(duplicates, "_has_same_bytes", lambda *_: False)
    assert "bookkeeping.agents.clerk.governance.duplicates._has_same_bytes" in told(suite)


def test_a_row_of_the_table_of_reasons_that_was_changed_is_told(
    suite: AgentSuite, monkeypatch: pytest.MonkeyPatch
) -> None:
    lenient_row = Reason("blocked_supplier", "accept", "the supplier is blocked")
    monkeypatch.setitem(reasons(), "blocked_supplier", lenient_row)  # type: ignore[arg-type]
    assert "bookkeeping.agents.clerk.tables.reasons" in told(suite)


def test_a_scripted_gate_is_told(suite: AgentSuite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "scope_by_rules", lambda *_: "in_scope")
    assert "bookkeeping.agents.clerk.scope.scope_by_rules is not the one in" in told(suite)


def test_a_scripted_reader_in_the_typewriter_is_told(suite: AgentSuite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "find_parts", lambda *_: ())
    assert "bookkeeping.agents.typewriter.asking.find_parts is not the one in" in told(suite)


class OtherQueue(MemoryQueue):
    """Not the double that the target declares."""


class ScriptedModel:
    name, endpoint, is_small = "claude", "https://api.anthropic.com", False


@pytest.mark.parametrize(
    "context",
    [
        ClerkContext(OtherQueue(), MemorySink()),
        ClerkContext(MemoryQueue(), MemorySink(), ScriptedModel()),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_declared_double_and_no_registered_model_is_refused(
    attestation: Attestation, context: ClerkContext
) -> None:
    with pytest.raises(ReasoningSubstituted):
        run_graph(build_graph(), inputs(), context=context)
