"""A provider that answers badly, seen from the board: every way ends in an ERROR that says which, and none in a score.

One run of real documents through the real graph and the real SDK; what is faked is the wire. No document gets an answer
that could be graded.
"""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from uuid import uuid4

import pytest

from eval_pipeline.board import Board, State
from eval_pipeline.outcome import FailureKind, Outcome, Status
from eval_pipeline.pipeline import Request, make_plan, publish_board, run_one_agent, score_agents, start
from eval_pipeline.results import Database, outcomes
from eval_pipeline.selection import Selection
from eval_pipeline.settings import Settings
from eval_pipeline.verdict import Verdict
from tests.models import messages_api as api

MODEL = "claude-sonnet-5-5"
ONE_PART = '{"documents": [{"first_line": 1, "last_line": 2, "family": "sales"}]}'

WAYS: dict[str, tuple[api.Step, str, int]] = {
    # what the wire does, what the board says, how many requests are sent
    "429 storm": (api.status(429, "rate_limit_error", retry_after="0"), "ModelRateLimited: the provider is busy: 4", 6),
    "529": (api.status(529, "overloaded_error", retry_after="0"), "ModelRateLimited: the provider is busy: 5", 6),
    "500": (api.status(500, "api_error", retry_after="0"), "ModelUnavailable: ", 6),
    "retry-after beyond the limit": (
        api.status(429, "rate_limit_error", retry_after="3600"), "the provider asks to wait 3600 s", 1),
    "400": (api.status(400, "invalid_request_error"), "ModelRejected: ", 1),
    "wrong key": (api.status(401, "authentication_error"), "ModelRejected: ", 1),
    "cut stream": (api.stream(api.events(ONE_PART), cut_after=4), "ModelUnavailable", 6),
    "wrong JSON": (api.text('{"documents": ['), "ModelMalformed", 1),
    "schema violation": (api.answer({"documents": [{"family": "sales"}]}), "ModelMalformed", 1),
    "refusal": (api.text("", stop_reason="refusal"), "ModelRefused", 1),
    "truncation": (api.text(ONE_PART[:30], stop_reason="max_tokens"), "ModelTruncated", 1),
}  # fmt: skip
PAID = {"cut stream": 6, "wrong JSON": 1, "schema violation": 1, "refusal": 1, "truncation": 1}
"""Ways in which the provider began to answer, so that so many requests count as paid."""


@pytest.fixture(scope="module")
def documents() -> dict[str, str]:
    """For each way an example of the dataset that nothing else is done with."""
    from eval_pipeline.suite import load_suite

    (suite,) = load_suite(Settings().datasets, ["typewriter"])
    chosen = [example for example in suite.dataset.examples if example.id.startswith("coercion-")]
    return {way: example.id for way, example in zip(WAYS, chosen, strict=False)}


@pytest.fixture
def ran(
    results: Database, documents: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Board, dict[str, Outcome], dict[str, int]]]:
    """The board of one run in which every document meets another way, the outcomes, and the requests sent for each."""
    from eval_pipeline.suite import load_suite

    (suite,) = load_suite(Settings().datasets, ["typewriter"])
    by_id = {item.id: suite.dataset.inputs(item)["document"].splitlines() for item in suite.dataset.examples}
    sent: dict[str, int] = {}

    def step(handler: BaseHTTPRequestHandler) -> None:
        asked = handler.asked["messages"][0]["content"][0]["text"]
        way = next(way for way, id in documents.items() if all(line in asked for line in by_id[id]))
        sent[way] = sent.get(way, 0) + 1
        WAYS[way][0](handler)

    with api.serving(step) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        settings = Settings(concurrency=len(WAYS))
        selection = Selection(tuple(f"typewriter/{id}" for id in documents.values()))
        plan = make_plan(results, str(uuid4()), Request(selection, MODEL), settings)
        start(results, plan)
        assert run_one_agent(results, plan, "typewriter", settings) == ()
    score_agents(results, plan.run_id, settings, ["typewriter"])
    stored = {item.example_id: item for item in outcomes.read(results, plan.run_id, "typewriter")}
    yield publish_board(results, plan.run_id), {way: stored[id] for way, id in documents.items()}, sent


@pytest.mark.timeout(200)
def test_every_way_is_an_error_with_its_name_nothing_is_scored_and_what_may_be_paid_is_counted(
    ran: tuple[Board, dict[str, Outcome], dict[str, int]], documents: dict[str, str]
) -> None:
    board, stored, sent = ran
    assert board.state is State.RED
    (row,) = board.agents
    assert (row.n_graded, row.pass_rate) == (0, 0.0)
    lines = {item.id: item for item in board.examples}
    for way, (_, told, n_requests) in WAYS.items():
        line = lines[documents[way]]
        assert (line.verdict, dict(line.scores)) == (Verdict.ERROR, {}), way
        assert told in line.reason, (way, line.reason)
        assert "sk-ant-test" not in line.reason
        assert stored[way].status is Status.FAILED
        assert stored[way].failure.kind is FailureKind.RAISED
        assert sent[way] == n_requests, way
        paid = PAID.get(way, 0)
        assert stored[way].usage.input_tokens == paid * api.INPUT_TOKENS, way
