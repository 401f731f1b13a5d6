"""The judge in the scoring of a run: what it says is on the board, and its control can turn the row red.

The provider is a loopback wire; the replies are written here, no agent made them.
"""

from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from eval_pipeline.board import Board, State, build_board
from eval_pipeline.evaluator import ScoreKey, evaluator
from eval_pipeline.grading import score_agent
from eval_pipeline.judge import meets_rubric
from eval_pipeline.judge.control import REPLY, RULE
from eval_pipeline.registry import JUDGED_KEYS
from eval_pipeline.results import Database, outcomes, runs
from eval_pipeline.verdict import Score, Verdict
from tests import build
from tests.models import messages_api as api

RUBRIC = ["It says four."]


@evaluator(reads={"rubric"}, scores={ScoreKey("reply_meets_rubric", judged=True)})
def judged(outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterable[Score]:
    """The judged score of these tests."""
    yield meets_rubric("reply_meets_rubric", outputs["answer"], expected["rubric"])


def judge_that(control_holds: bool) -> api.Step:
    """Says of the reply that its criterion holds, and of the control what is to be tested."""

    def step(handler: BaseHTTPRequestHandler) -> None:
        asked = handler.asked["messages"][0]["content"][0]["text"]
        if REPLY in asked:
            one = {"quotation": "This reply meets every criterion", "holds": control_holds}
            api.answer({"criterion_1": one, "criterion_2": one})(handler)
        else:
            api.answer({"criterion_1": {"quotation": "four", "holds": True}})(handler)

    return step


@pytest.fixture
def scored(results: Database, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Scores one stored reply with a judge at this address (None: no key) and gives the board."""
    monkeypatch.setitem(JUDGED_KEYS, build.AGENT, frozenset({"reply_meets_rubric"}))
    example = build.example(expected={"rubric": RUBRIC})
    agent = build.suite(example, evaluators=(judged,))
    build.start_run(results, build.agent_row(n_examples=1, n_selected=1))
    digest = agent.dataset.inputs_digest(example)
    outcomes.add(results, [outcomes.encoded(build.outcome(inputs_digest=digest))])
    runs.finish(results, build.RUN, interrupted=False)

    def score(url: str | None) -> Board:
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        if url is not None:
            monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        score_agent(agent, results, build.RUN)
        return build_board(results, build.RUN)

    return score


def test_a_judge_that_refuses_the_control_is_believed_and_paid_once(scored: Any) -> None:
    with api.serving(judge_that(control_holds=False)) as server:
        board = scored(server.url)
        again = scored(server.url)
    assert len(server.requests) == 2  # the reply and the control; the second scoring asks nobody
    assert again.as_json()["agents"] == board.as_json()["agents"]
    (row,) = board.agents
    assert (row.state, row.problems) == (State.GREEN, ())
    assert board.examples[0].verdict is Verdict.PASS
    assert row.usage["input_tokens"] == 2 * api.INPUT_TOKENS
    assert row.usage["output_tokens"] == 2 * api.OUTPUT_TOKENS


def test_a_judge_that_lets_the_control_pass_makes_the_row_red_although_every_example_passed(scored: Any) -> None:
    with api.serving(judge_that(control_holds=True)) as server:
        board = scored(server.url)
    (row,) = board.agents
    assert board.examples[0].verdict is Verdict.PASS
    assert (board.state, row.state) == (State.RED, State.RED)
    assert row.problems[0].startswith(f"{RULE}: the judge claude-")


def test_without_a_judge_the_reply_fails_unanswered_and_no_control_is_missed(scored: Any) -> None:
    board = scored(None)
    (row,) = board.agents
    line = board.examples[0]
    assert (line.verdict, tuple(line.unanswered)) == (Verdict.FAIL, ("reply_meets_rubric",))
    assert (row.n_unanswered, row.problems) == (1, ())


def test_a_judge_that_comes_back_is_asked_and_its_problem_goes(scored: Any) -> None:
    assert scored(None).state is State.RED
    with api.serving(judge_that(control_holds=False)) as server:
        assert scored(server.url).state is State.GREEN
