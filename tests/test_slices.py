"""A board by tags: every example counts in each of its tags, and a skip in none of the shares."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from eval_pipeline.board import Board, ExampleBoard, State
from eval_pipeline.dataset import Dataset
from eval_pipeline.slices import slices
from eval_pipeline.suite import AgentSuite
from eval_pipeline.verdict import Verdict
from tests.build import AGENT, ENTRY, example

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def line(id: str, verdict: Verdict, **scores: float) -> ExampleBoard:
    return ExampleBoard(AGENT, id, verdict, "", scores, (), (), ())


@pytest.fixture
def suite(tmp_path) -> AgentSuite:
    examples = (
        example("a", tags=["sales", "lang:en"]),
        example("b", tags=["sales"]),
        example("c", tags=["sales", "lang:de"]),
        example("d", tags=[]),
    )
    dataset = Dataset(AGENT, tmp_path, examples, {item.id: tmp_path for item in examples})
    return AgentSuite(ENTRY, dataset, None, ())


BOARD = Board("r", State.RED, False, None, NOW, NOW, (), ())
LINES = (
    line("a", Verdict.PASS, kind_correct=1.0, ratio=1.0),
    line("b", Verdict.FAIL, kind_correct=0.0, ratio=0.5),
    line("c", Verdict.SKIP),
    line("d", Verdict.PASS, kind_correct=1.0),
)


def test_each_example_is_in_the_slice_of_each_of_its_tags(suite: AgentSuite) -> None:
    found = {item.tag: item for item in slices(replace(BOARD, examples=LINES), [suite])}
    assert list(found) == ["lang:de", "lang:en", "sales"]
    sales = found["sales"]
    assert (sales.n_examples, sales.n_graded, sales.n_passed) == (3, 2, 1)
    assert sales.score_means == {"kind_correct": 0.5, "ratio": 0.75}
    assert [round(bound, 3) for bound in sales.interval] == [0.095, 0.905]


def test_a_slice_of_skips_alone_proves_nothing(suite: AgentSuite) -> None:
    (german,) = (item for item in slices(replace(BOARD, examples=LINES), [suite]) if item.tag == "lang:de")
    assert (german.n_examples, german.n_graded, german.n_passed) == (1, 0, 0)
    assert german.interval == (0.0, 1.0)
    assert german.score_means == {}


def test_an_example_that_is_no_longer_in_the_dataset_is_in_no_slice(suite: AgentSuite) -> None:
    gone = (line("z", Verdict.PASS, kind_correct=1.0),)
    assert list(slices(replace(BOARD, examples=gone), [suite])) == []
