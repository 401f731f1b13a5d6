"""The trace shows each node of a real graph, and never fails the attempt that it shows."""

import json
import math
import threading
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

from eval_pipeline.masking import _masker, mask
from eval_pipeline.outcome import Span
from eval_pipeline.settings import Settings
from eval_pipeline.trace import CUT, MAX_TEXT, Recorder, current, recording, run_graph
from eval_pipeline.values import canonical_text, require_json
from tests.test_evaluator import hostile


class State(TypedDict, total=False):
    n: Any


def compiled(*nodes: Any) -> Any:
    """A graph that runs these functions one after the other."""
    graph = StateGraph(State)
    names = [node.__name__ for node in nodes]
    for name, node in zip(names, nodes, strict=True):
        graph.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    return graph.compile()


def doubles(state: State) -> State:
    return {"n": state["n"] * 2}


def adds(state: State) -> State:
    return {"n": state["n"] + 1}


def breaks(state: State) -> State:
    raise ValueError("boom")


def test_every_node_of_a_graph_becomes_a_span_in_the_order_of_their_starts() -> None:
    with recording() as recorder:
        final = run_graph(compiled(doubles, adds), {"n": 3})
    assert final == {"n": 7}
    assert [(span.kind, span.name, span.input, span.output, span.error) for span in recorder.spans] == [
        ("node", "doubles", {"n": 3}, {"n": 6}, None),
        ("node", "adds", {"n": 6}, {"n": 7}, None),
    ]


def test_a_node_that_raises_is_in_the_trace_and_the_error_is_raised() -> None:
    with recording() as recorder, pytest.raises(ValueError, match="boom"):
        run_graph(compiled(doubles, breaks), {"n": 3})
    assert [(span.name, span.error) for span in recorder.spans] == [
        ("doubles", None),
        ("breaks", "ValueError: boom"),
    ]


def test_a_node_sees_the_recorder_of_its_attempt() -> None:
    seen = []

    def looks(state: State) -> State:
        seen.append(current())
        return {}

    with recording() as recorder:
        run_graph(compiled(looks), {"n": 1})
    assert seen == [recorder]


def test_what_a_node_changes_later_does_not_change_its_span() -> None:
    kept: list[int] = [1]

    def first(state: State) -> State:
        return {"n": kept}

    def second(state: State) -> State:
        kept.append(2)
        return {}

    with recording() as recorder:
        run_graph(compiled(first, second), {"n": 0})
    assert recorder.spans[0].output == {"n": [1]}


def test_each_attempt_records_for_itself() -> None:
    with recording() as outer:
        with recording() as inner:
            assert current() is inner
        assert current() is outer
    assert current() is not outer


def test_threads_do_not_share_a_recorder() -> None:
    seen = []
    with recording() as recorder:
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen[0] is not recorder


def test_spans_are_sorted_by_their_start() -> None:
    recorder = Recorder()
    recorder.add(Span("node", "later", 2.0, 1.0))
    recorder.add(Span("node", "sooner", 1.0, 5.0))
    assert [span.name for span in recorder.spans] == ["sooner", "later"]


@dataclass(frozen=True)
class Facts:
    amount: Decimal
    day: date


@dataclass
class Draft:
    lines: list[str]


class Model(BaseModel):
    total: Decimal


def shown(value: Any) -> Any:
    return Recorder().shown(value)


def test_values_of_the_agents_are_shown_as_json() -> None:
    value = {"facts": Facts(Decimal("1.10"), date(2026, 12, 1)), "model": Model(total=Decimal("2.20")), 1: ("x", None)}
    assert shown(value) == {
        "facts": {"amount": "1.10", "day": "2026-12-01"},
        "model": {"total": "2.20"},
        "1": ["x", None],
    }
    assert shown(Facts) == repr(Facts)
    assert shown([Fraction(357, 2), Fraction(4)]) == ["357/2", "4"]


def test_numbers_that_are_no_json_are_shown_by_their_names() -> None:
    assert shown([math.nan, math.inf, -math.inf]) == ["nan", "inf", "-inf"]
    assert shown(10**5000) == "a number of 16610 bits"


@pytest.mark.parametrize("value", ["x" * 5_000_000, ["x" * 10_000] * 10_000, list(range(10**6)), {"x" * 10**6: 1}])
def test_a_large_value_is_cut_and_says_so(value: Any) -> None:
    """H40: megabytes do not crash the run."""
    text = json.dumps(shown(value))
    assert len(text) < 1_000_000
    assert len(text) < len(json.dumps(value))


def test_a_cut_text_says_that_it_was_cut() -> None:
    assert shown("x" * (MAX_TEXT + 1)) == "x" * MAX_TEXT + CUT


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def circle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def test_a_value_that_cannot_be_shown_is_told_and_raises_nothing() -> None:
    assert shown([Unshowable()]) == {"not shown": "RuntimeError: no words"}


def test_a_value_that_holds_itself_is_cut_where_it_gets_too_deep() -> None:
    require_json(shown(circle()))
    assert CUT in json.dumps(shown(circle()))


@given(
    hostile
    | st.lists(hostile, max_size=3)
    | st.dictionaries(hostile.filter(lambda key: not isinstance(key, list | dict | set)), hostile, max_size=2)
)
def test_whatever_is_shown_can_be_stored(value: Any) -> None:
    canonical_text(shown(value))


def test_a_state_that_holds_itself_does_not_stop_the_graph() -> None:
    def holds(state: State) -> State:
        return {"n": circle()}

    with recording() as recorder:
        run_graph(compiled(holds), {"n": 0})
    canonical_text(recorder.spans[0].output)


def test_an_object_that_changed_is_shown_as_it_is_now() -> None:
    recorder, draft = Recorder(), Draft(["a"])
    assert recorder.shown(draft) == {"lines": ["a"]}
    draft.lines.append("b")
    assert recorder.shown(draft) == {"lines": ["a", "b"]}


def test_what_a_span_has_shown_is_only_named_later() -> None:
    class State(TypedDict, total=False):
        paper: list[str]
        total: int

    def adds(state: State) -> State:
        return {"total": len(state["paper"])}

    def replaces(state: State) -> State:
        return {"paper": ["new"]}

    def looks(state: State) -> State:
        return {"total": 0}

    graph = StateGraph(State)
    for node in (adds, replaces, looks):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "adds")
    graph.add_edge("adds", "replaces")
    graph.add_edge("replaces", "looks")
    with recording() as recorder:
        run_graph(graph.compile(), {"paper": ["a", "b"]})
    assert [span.input for span in recorder.spans] == [
        {"paper": ["a", "b"]},
        {"total": 2, "as before": ["paper"]},
        {"total": 2, "as before": ["paper"]},
    ]
    assert recorder.spans[1].output == {"paper": ["new"]}


KEY = "sk-ant-api03-abcdefghijklmnopqrstuv"


def test_no_secret_is_kept_in_a_trace() -> None:
    def calls(state: State) -> State:
        raise ValueError(f"refused: {KEY}")

    with recording() as recorder, pytest.raises(ValueError, match="refused"):
        run_graph(compiled(calls), {"n": {"asked": [f"with {KEY}"], KEY: 1}})
    recorder.print(f"{KEY}\n")
    assert recorder.spans[0].input == {"n": {"asked": ["with «masked»"], "«masked»": 1}}
    assert recorder.spans[0].error == "ValueError: refused: «masked»"
    assert recorder.spans[1].output == {"text": "«masked»\n"}


def test_a_secret_across_the_cut_leaves_no_half_of_it() -> None:
    address = "postgresql://eval:hunter2@books/ledger"
    before = "x" * (MAX_TEXT - len("postgresql://eval:hun"))
    assert shown(before + address) == (before + "postgresql://«masked»")[:MAX_TEXT] + CUT


def test_what_is_personal_stays_in_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.masking.settings", lambda: Settings(mask=("Ada",)))
    _masker.cache_clear()
    assert shown("Ada") == "Ada"
    assert mask("Ada") == "«masked»"
    _masker.cache_clear()
