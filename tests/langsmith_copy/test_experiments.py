"""A published run: each attempt beside its example, its steps as a tree, its scores as feedback; never twice."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.errors import ConfigError
from eval_pipeline.langsmith_copy import copied_id, dataset_name, sync
from eval_pipeline.langsmith_experiments import Losses, publish
from eval_pipeline.langsmith_runs import attempt_id
from eval_pipeline.langsmith_service import ServiceError
from eval_pipeline.outcome import ModelIdentity, Span, Status, Usage
from eval_pipeline.results import experiments, outcomes, scores
from eval_pipeline.results.scores import Graded
from eval_pipeline.span_tree import parents
from eval_pipeline.verdict import Decision, Excused, Score, Verdict
from tests import build
from tests.langsmith_copy.conftest import connect
from tests.langsmith_copy.service import ANSWER_LOST, RESET

NAME = dataset_name(build.AGENT)
SPANS = (
    Span("node", "read", 0.0, 0.1, {"text": "INVOICE"}, {"lines": ["INVOICE"]}),
    Span("node", "extract", 0.1, 0.3, {"lines": ["INVOICE"]}, {"total": "1.00"}),
    Span(
        "model",
        "claude-served",
        0.15,
        0.2,
        {"system": "read it", "content": ["INVOICE"], "max_tokens": 9},
        {
            "reply": '{"total": "1.00"}',
            "stop_reason": "end_turn",
            "tokens": {"input": 10, "output": 4, "cache_read": 90, "cache_write": 5},
            "cost_usd": "0.0012",
        },
    ),
)


def graded(example_id, verdict=Verdict.PASS, *found, **decision):
    return Graded(example_id, 0, Decision(verdict, **decision), tuple(found))


@pytest.fixture
def run(results):
    """A run of four examples: one that passed with a trace, one excused, one skipped, one that raised."""
    examples = [build.example(name) for name in ("good", "excused", "skipped", "raised")]
    build.start_run(results, model="claude-served")
    found = [
        build.outcome(
            "good",
            spans=SPANS,
            model=ModelIdentity("claude-served", "https://provider"),
            usage=Usage(1, 105, 4, Decimal("0.0012")),
        ),
        build.outcome("excused", outputs={"answer": "five", "n_steps": 2}),
        build.outcome("skipped", status=Status.SKIPPED),
        build.outcome("raised", status=Status.FAILED),
    ]
    outcomes.add(results, map(outcomes.encoded, found))
    rows = [
        graded("good", Verdict.PASS, (0, Score("answer_correct", 1.0, "as expected"))),
        graded(
            "excused",
            Verdict.XFAIL,
            (0, Score("answer_correct", 0.25, "five, not four")),
            excused=(Excused("answer_correct", "it miscounts"),),
        ),
        graded("skipped", Verdict.SKIP, reason="no model"),
        graded("raised", Verdict.ERROR, reason="ValueError: boom"),
    ]
    scores.replace(results, build.RUN, build.AGENT, rows, evaluators_digest="e1", dataset_digest="d1")
    return results, {build.AGENT: build.dataset(*examples)}


def published(service, run, **options):
    results, datasets = run
    losses = Losses()
    client = connect(service, on_lost=losses)
    sync(client, datasets[build.AGENT], None)
    return publish(client, losses, results, build.RUN, datasets)


def run_of(service, example_id):
    return service.runs[str(attempt_id(build.outcome(example_id)))]


def feedback_on(service, example_id):
    wanted = str(attempt_id(build.outcome(example_id)))
    return [item for item in service.feedback.values() if item["run_id"] == wanted]


def test_each_attempt_stands_beside_its_example_with_its_scores(service, run):
    (done,) = published(service, run)
    (session,) = service.sessions.values()
    assert (done.n_runs, done.n_feedback, done.n_skipped) == (4, 2, 1)
    assert session["reference_dataset_id"] == service.of(NAME).id
    for name in ("good", "excused", "skipped", "raised"):
        row = run_of(service, name)
        assert row["reference_example_id"] == str(copied_id(NAME, name))
        assert row["session_id"] == session["id"]
        assert row["inputs"] == {"question": "how much"}
    (good,) = feedback_on(service, "good")
    assert (good["key"], good["score"], good["comment"]) == ("answer_correct", 1.0, "as expected")
    (excused,) = feedback_on(service, "excused")
    assert (excused["score"], excused["feedback_source"]["metadata"]["excused"]) == (0.25, "it miscounts")
    assert run_of(service, "excused")["extra"]["metadata"]["verdict"] == "XFAIL"


def test_a_skip_is_no_zero_and_an_error_says_what_it_was(service, run):
    published(service, run)
    assert feedback_on(service, "skipped") == []
    assert run_of(service, "skipped")["extra"]["metadata"]["skip_reason"] == "no model"
    assert feedback_on(service, "raised") == []
    assert run_of(service, "raised")["error"] == "raised: ValueError: boom"


def test_the_steps_are_a_tree_with_messages_tokens_and_cost(service, run):
    published(service, run)
    root = run_of(service, "good")
    steps = {row["name"]: row for row in service.runs.values() if row["trace_id"] == root["id"] and row is not root}
    assert set(steps) == {"read", "extract", "claude-served"}
    call = steps["claude-served"]
    assert steps["read"]["parent_run_id"] == steps["extract"]["parent_run_id"] == root["id"]
    assert call["parent_run_id"] == steps["extract"]["id"]
    assert call["dotted_order"].startswith(steps["extract"]["dotted_order"] + ".")
    assert steps["extract"]["dotted_order"].startswith(root["dotted_order"] + ".")
    assert call["inputs"]["messages"] == [
        {"role": "system", "content": "read it"},
        {"role": "user", "content": "INVOICE"},
    ]
    assert call["outputs"]["messages"] == [{"role": "assistant", "content": '{"total": "1.00"}'}]
    usage = call["outputs"]["usage_metadata"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (105, 4, 109)
    assert usage["input_token_details"] == {"cache_read": 90, "cache_creation": 5}
    assert usage["total_cost"] == 0.0012


def test_publishing_again_updates_and_doubles_nothing(service, run):
    results, _ = run
    published(service, run)
    before = (set(service.runs), set(service.feedback), set(service.sessions))
    rows = [
        graded("good", Verdict.FAIL, (0, Score("answer_correct", 0.0, "after all not")), failed=("answer_correct",))
    ]
    scores.replace(results, build.RUN, build.AGENT, rows, evaluators_digest="e2", dataset_digest="d1")
    published(service, run)
    assert (set(service.runs), set(service.feedback), set(service.sessions)) == before
    (good,) = feedback_on(service, "good")
    assert (good["score"], good["comment"]) == (0.0, "after all not")
    assert run_of(service, "good")["extra"]["metadata"]["verdict"] == "FAIL"


def test_where_it_is_is_kept_with_the_run(service, run):
    results, _ = run
    (done,) = published(service, run)
    assert experiments.of_run(results, build.RUN) == {build.AGENT: done.url}
    assert done.url.endswith(f"/datasets/{service.of(NAME).id}/compare?selectedSessions={next(iter(service.sessions))}")


@pytest.mark.parametrize("fault", [RESET, ANSWER_LOST, 500])
def test_what_was_not_taken_is_an_error_and_publishing_again_completes_it(service, run, fault):
    published(service, run)
    whole = (set(service.runs), set(service.feedback))
    service.runs.clear()
    service.feedback.clear()
    start = len(service.requests)
    service.fault = lambda n: fault if n > start + 4 and service.requests[n][1] == "/runs/multipart" else None
    with pytest.raises(ServiceError, match="did not take all of it"):
        published(service, run)
    service.fault = lambda _: None
    published(service, run)
    assert (set(service.runs), set(service.feedback)) == whole


def test_a_run_without_scores_is_not_published(service, results):
    build.start_run(results)
    with pytest.raises(ConfigError, match="has no scores of sampler"):
        published(service, (results, {build.AGENT: build.dataset()}))
    assert service.runs == {}


def test_secrets_do_not_leave(service, results, monkeypatch):
    build.start_run(results)
    secret = "sk-ant-api03-abcdefghijklmnopqrstuv"
    outcomes.add(results, [outcomes.encoded(build.outcome(outputs={"answer": f"the key is {secret}", "n_steps": 1}))])
    row = graded("example-1", Verdict.FAIL, (0, Score("answer_correct", 0.0, f"{secret}, not four")))
    scores.replace(results, build.RUN, build.AGENT, [row], evaluators_digest="e1", dataset_digest="d1")
    published(service, (results, {build.AGENT: build.dataset()}))
    assert secret not in str(service.runs) + str(service.feedback)
    assert run_of(service, "example-1")["outputs"]["answer"] == "the key is «masked»"


def test_a_thousand_examples_are_one_stream_and_not_a_thousand_requests(service, results):
    names = [f"e{number}" for number in range(1000)]
    build.start_run(results)
    outcomes.add(results, (outcomes.encoded(build.outcome(name)) for name in names))
    rows = [graded(name, Verdict.PASS, (0, Score("answer_correct", 1.0))) for name in names]
    scores.replace(results, build.RUN, build.AGENT, rows, evaluators_digest="e1", dataset_digest="d1")
    run = (results, {build.AGENT: build.dataset(*map(build.example, names))})
    published(service, run)
    assert len(service.runs) == len(service.feedback) == 1000
    # One request with all runs; the SDK sends feedback in the background, a hundred in a request at most.
    assert service.n_posts_of_runs < 20


spans = st.lists(
    st.builds(
        Span,
        st.sampled_from(["node", "model"]),
        st.just("step"),
        st.integers(0, 20).map(lambda n: n / 10),
        st.integers(0, 20).map(lambda n: n / 10),
    ),
    max_size=8,
)


@given(spans)
def test_a_step_is_within_a_node_that_holds_it_and_no_step_is_within_itself(found):
    above = parents(found)
    for place, parent in enumerate(above):
        seen = {place}
        while parent is not None:
            assert parent not in seen
            seen.add(parent)
            assert found[parent].kind == "node"
            assert found[parent].start <= found[place].start + 0.01
            place, parent = parent, above[parent]


def test_of_two_nodes_around_a_call_the_inner_one_is_its_parent():
    outer, inner = Span("node", "outer", 0, 10), Span("node", "inner", 2, 3)
    call = Span("model", "m", 3, 1)
    assert parents([outer, inner, call]) == (None, None, 1)
