"""Every variant of every rule, with the example worked by hand for it, through the whole graph into Postgres."""

from typing import Any

import pytest

from bookkeeping.agents.bookkeeper.rulebook import rulebook
from tests.bookkeeper.conftest import BookIt
from tests.bookkeeper.records import lines_of, lines_of_example, read, record_for

EXAMPLES = read("worked_examples.json")
EDGE_CASES = read("edge_cases.json")


def test_there_is_an_example_for_every_variant() -> None:
    variants = {f"{rule.doc_type}.{name}" for rule in rulebook().rules.values() for name in rule.variants}
    assert {example["rule"] for example in EXAMPLES} == variants
    assert len(variants) == 197
    assert len(rulebook().rules) == 98
    assert sum(len(example["entries"]) for example in EXAMPLES) == 575


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["rule"])
def test_the_worked_example_is_posted_line_by_line(example: dict[str, Any], book_it: BookIt) -> None:
    outputs = book_it(record_for(example["rule"], example["inputs"]))
    assert (outputs["status"], outputs["reason"]) == ("posted", None), outputs["explanation"]
    assert outputs["rule"] == example["rule"]
    assert lines_of(outputs) == lines_of_example(example["entries"])


@pytest.mark.parametrize("case", EDGE_CASES, ids=lambda case: case["case"])
def test_the_edge_case_is_posted_line_by_line(case: dict[str, Any], book_it: BookIt) -> None:
    outputs = book_it(record_for(case["rule"], case["inputs"]), currency=case["book_currency"])
    if case["entries"]:
        assert outputs["status"] == "posted", outputs["explanation"]
    else:
        assert (outputs["status"], outputs["reason"]) == ("nothing_to_post", "zero_amount")
    assert lines_of(outputs) == lines_of_example(case["entries"])
