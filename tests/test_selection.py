"""One way to say which examples run."""

import json

import pytest

from eval_pipeline.errors import ConfigError
from eval_pipeline.selection import LAST, Selection, require_some, selected
from tests.build import example, suite

SUITE = suite(
    example("sale-1", tags=["sale"]),
    example("sale-2", tags=["sale", "hard"]),
    example("tax-1", tags=["hard"]),
    example("tax-2"),
)


def ids(selection: Selection, last: dict[str, str] | None = None) -> list[str]:
    return [item.id for item in selected(selection, SUITE, last)]


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (Selection(), ["sale-1", "sale-2", "tax-1", "tax-2"]),
        (Selection(("sampler",)), ["sale-1", "sale-2", "tax-1", "tax-2"]),
        (Selection(("sampler/",)), ["sale-1", "sale-2", "tax-1", "tax-2"]),
        (Selection(("sampler/tax-1",)), ["tax-1"]),
        (Selection(("sampler/*-1",)), ["sale-1", "tax-1"]),
        (Selection(("sampler/tax-2", "sampler/sale-?")), ["sale-1", "sale-2", "tax-2"]),
        (Selection(("other",)), []),
        (Selection(("other/*", "sampler/tax-1")), ["tax-1"]),
        (Selection(("sampler/SALE-1",)), []),
        (Selection(tags=("hard",)), ["sale-2", "tax-1"]),
        (Selection(tags=("hard", "sale")), ["sale-1", "sale-2", "tax-1"]),
        (Selection(("sampler/sale-*",), tags=("hard",)), ["sale-2"]),
        (Selection(limit=3), ["sale-1", "sale-2", "tax-1"]),
        (Selection(tags=("hard",), limit=1), ["sale-2"]),
    ],
)
def test_what_is_selected_stands_in_the_order_of_the_dataset(selection: Selection, chosen: list[str]) -> None:
    assert ids(selection) == chosen


@pytest.mark.parametrize(
    ("last", "chosen"),
    [("red", ["sale-1", "sale-2", "tax-1"]), ("fail", ["sale-1"]), ("error", ["sale-2"]), ("xpass", ["tax-1"])],
)
def test_the_last_verdicts_narrow(last: str, chosen: list[str]) -> None:
    verdicts = {"sale-1": "FAIL", "sale-2": "ERROR", "tax-1": "XPASS", "tax-2": "PASS"}
    assert ids(Selection(last=last), verdicts) == chosen


def test_without_a_last_run_nothing_was_red() -> None:
    assert ids(Selection(last="red")) == []


def test_a_limit_below_1_and_an_unknown_last_are_refused() -> None:
    with pytest.raises(ConfigError, match="--limit 0: at least 1"):
        Selection(limit=0)
    with pytest.raises(ConfigError, match="--last green: one of red, fail, error, xpass, skip"):
        Selection(last="green")
    for last in LAST:
        assert Selection(last=last).last == last


@pytest.mark.parametrize(
    ("selection", "is_partial"),
    [
        (Selection(), False),
        (Selection(("sampler",)), False),
        (Selection(("sampler/*",)), True),
        (Selection(tags=("hard",)), True),
        (Selection(last="red"), True),
        (Selection(limit=1000), True),
    ],
)
def test_whatever_can_leave_out_examples_makes_a_partial_board(selection: Selection, is_partial: bool) -> None:
    assert selection.below_a_whole_agent is is_partial


def test_the_agents_that_it_names_are_named_once() -> None:
    assert Selection(("b/x", "a", "b")).agents == ("b", "a")


def test_it_can_be_stored() -> None:
    stored = json.loads(json.dumps(Selection(("a/b",), ("t",), "red", 2).as_json()))
    assert stored == {"select": ["a/b"], "tags": ["t"], "last": "red", "limit": 2}


def test_a_selection_that_matches_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="the selection matches no example"):
        require_some(Selection(tags=("none",)), {"sampler": ()})
    with pytest.raises(ConfigError, match="the selection 'sampler/none' matches no example"):
        require_some(Selection(("sampler/none", "sampler")), {"sampler": SUITE.dataset.examples})
    with pytest.raises(ConfigError, match="'other' matches no example"):
        require_some(Selection(("sampler", "other")), {"sampler": SUITE.dataset.examples})
    require_some(Selection(("sampler/sale-*",)), {"sampler": SUITE.dataset.examples[:2]})
