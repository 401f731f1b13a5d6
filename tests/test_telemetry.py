"""Spans over the wire: a tree an attempt, named by the conventions; a collector's fault is told, never raised."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

from eval_pipeline import telemetry
from eval_pipeline.outcome import ModelIdentity, Span, Status, Usage
from eval_pipeline.results import outcomes, scores
from eval_pipeline.results.scores import Graded
from eval_pipeline.spans import spans_of
from eval_pipeline.trace import AS_BEFORE
from eval_pipeline.verdict import Decision, Score, Verdict
from tests import build
from tests.otlp_collector import attributes, collecting

SECRET = "sk-ant-api03-abcdefghijklmnopqrstuv"
SPANS = (
    Span("node", "read", 0.0, 0.1, {"text": SECRET}, {"lines": 1}),
    Span("node", "extract", 0.1, 0.3, None, None, "ValueError: no total"),
    Span(
        "model",
        "local/small",
        0.15,
        0.2,
        {"system": "read it", "content": ["INVOICE"], "max_tokens": 9},
        {
            "reply": "{}",
            "stop_reason": "end_turn",
            "model": "small-1",
            "response_id": "msg_01",
            "tokens": {"input": 10, "output": 4, "cache_read": 90, "cache_write": 5},
            "cost_usd": "0.0012",
        },
    ),
)


@pytest.fixture
def run(results):
    """An outcome with a trace, and one that was skipped."""
    build.start_run(results)
    usage = Usage(1, 105, 4, Decimal("0.0012"))
    model = ModelIdentity("local/small", "in-process")
    found = [build.outcome(spans=SPANS, model=model, usage=usage), build.outcome("skipped", status=Status.SKIPPED)]
    outcomes.add(results, map(outcomes.encoded, found))
    failed = Decision(Verdict.FAIL, "answer_correct 0", ("answer_correct",))
    rows = [
        Graded("example-1", 0, failed, ((0, Score("answer_correct", 0.0, f"{SECRET}, not four")),)),
        Graded("skipped", 1, Decision(Verdict.SKIP, "no model")),
    ]
    scores.replace(results, build.RUN, build.AGENT, rows, evaluators_digest="e1", dataset_digest="d1")
    return results


def sent(run, collector, **options):
    return telemetry.send(run, build.RUN, build.AGENT, OTLPSpanExporter(endpoint=collector.url, **options))


def test_an_attempt_is_a_tree_of_spans(run):
    with collecting() as collector:
        assert sent(run, collector) is None
    by_name = {span.name: span for span in collector.spans}
    assert set(by_name) == {"invoke_agent sampler", "read", "extract", "chat small"}
    root, node, call = by_name["invoke_agent sampler"], by_name["extract"], by_name["chat small"]
    assert root.parent_span_id == b""
    assert node.parent_span_id == by_name["read"].parent_span_id == root.span_id
    assert call.parent_span_id == node.span_id
    assert len({span.trace_id for span in collector.spans}) == 1
    assert call.start_time_unix_nano - root.start_time_unix_nano == 150_000_000
    assert call.end_time_unix_nano - call.start_time_unix_nano == 200_000_000
    assert (node.status.code, node.status.message) == (2, "ValueError: no total")


def test_the_names_are_those_of_the_conventions(run):
    with collecting() as collector:
        sent(run, collector)
    by_name = {span.name: attributes(span) for span in collector.spans}
    root, call = by_name["invoke_agent sampler"], by_name["chat small"]
    assert (root["gen_ai.operation.name"], root["gen_ai.agent.name"]) == ("invoke_agent", "sampler")
    assert (root["eval.example"], root["eval.verdict"]) == ("example-1", "FAIL")
    assert (call["gen_ai.provider.name"], call["gen_ai.request.model"]) == ("local", "small")
    assert (call["gen_ai.response.model"], call["gen_ai.response.finish_reasons"]) == ("small-1", ["end_turn"])
    assert (call["gen_ai.usage.input_tokens"], call["gen_ai.usage.output_tokens"]) == (105, 4)
    assert json.loads(call["gen_ai.input.messages"])[0]["parts"] == [{"type": "text", "content": "INVOICE"}]
    assert json.loads(call["gen_ai.output.messages"])[0]["role"] == "assistant"


def test_scores_are_events_of_the_attempt(run):
    with collecting() as collector:
        sent(run, collector)
    root = next(span for span in collector.spans if not span.parent_span_id)
    (event,) = root.events
    told = attributes(event)
    assert event.name == "gen_ai.evaluation.result"
    assert (told["gen_ai.evaluation.name"], told["gen_ai.evaluation.score.value"]) == ("answer_correct", 0.0)
    assert told["gen_ai.evaluation.explanation"] == "«masked», not four"


def test_no_secret_leaves(run):
    with collecting() as collector:
        sent(run, collector)
    assert collector.spans
    assert not any(SECRET.encode() in span.SerializeToString() for span in collector.spans)


def test_what_is_sent_again_has_the_ids_that_it_had(run):
    with collecting() as first:
        sent(run, first)
    with collecting() as second:
        sent(run, second)
    ids = [[(span.trace_id, span.span_id) for span in collector.spans] for collector in (first, second)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(ids[0])


def test_a_collector_that_refuses_is_told_and_asked_no_more(run):
    with collecting(status=400) as collector:
        assert sent(run, collector) == "0 spans sent; the collector did not take the next 4"
        assert collector.n_requests == 1


def test_a_collector_that_is_away_is_told(run):
    with collecting() as collector:
        pass
    assert sent(run, collector, timeout=0.5) == "0 spans sent; the collector did not take the next 4"


def test_a_collector_that_hangs_is_told(run):
    with collecting(delay_s=60) as collector:
        assert sent(run, collector, timeout=0.3) == "0 spans sent; the collector did not take the next 4"


def test_a_slow_collector_is_not_waited_for_without_end(run, monkeypatch):
    monkeypatch.setattr(telemetry, "MAX_SPANS", 1)
    with collecting(delay_s=0.3) as collector:
        exporter = OTLPSpanExporter(endpoint=collector.url)
        told = telemetry.send(run, build.RUN, build.AGENT, exporter, longest_s=0.2)
    assert told == "1 spans sent; the collector was too slow for the others (0.2 s)"


def test_settings_that_the_exporter_cannot_read_are_told(run, monkeypatch):
    monkeypatch.setenv("OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER", "nobody")
    told = telemetry.send(run, build.RUN, build.AGENT)
    assert told == "0 spans sent; the exporter cannot be made with these OTEL_* variables: RuntimeError"


def test_the_endpoint_and_the_headers_are_those_of_the_environment(run, monkeypatch):
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.removesuffix("/v1/traces"))
        assert telemetry.send(run, build.RUN, build.AGENT) is None
    assert len(collector.spans) == 4


def test_requests_are_small(run, monkeypatch):
    monkeypatch.setattr(telemetry, "MAX_CHARACTERS", 1)
    with collecting() as collector:
        assert sent(run, collector) is None
    assert (collector.n_requests, len(collector.spans)) == (4, 4)


def test_every_name_of_the_conventions_is_one_of_theirs(run):
    known = {value for value in vars(gen_ai_attributes).values() if isinstance(value, str)}
    with collecting() as collector:
        sent(run, collector)
    told = {key for span in collector.spans for of in (span, *span.events) for key in attributes(of)}
    used = {key for key in told if key.startswith("gen_ai.")}
    assert "gen_ai.response.id" in used
    assert used <= known


def test_what_stands_for_a_system_prompt_told_before_is_that_prompt():
    asked = [{"system": text, "content": ["INVOICE"]} for text in ("read it", AS_BEFORE)]
    calls = tuple(Span("model", "small", 0.0, 0.1, given, {"reply": "{}"}) for given in asked)
    graded = Graded("example-1", 0, Decision(Verdict.PASS, ""))
    _, first, second = spans_of(build.outcome(spans=calls), graded)
    told = '[{"type": "text", "content": "read it"}]'
    assert first.attributes["gen_ai.system_instructions"] == second.attributes["gen_ai.system_instructions"] == told


def test_an_attempt_that_was_made_anew_is_another_trace():
    graded = Graded("example-1", 0, Decision(Verdict.PASS, ""))
    first, again = build.outcome(), build.outcome(started_at=build.NOW + timedelta(seconds=1))
    ids = {next(spans_of(outcome, graded)).context.trace_id for outcome in (first, first, again)}
    assert len(ids) == 2


def test_an_error_is_named_by_its_type(run):
    with collecting() as collector:
        sent(run, collector)
    by_name = {span.name: attributes(span) for span in collector.spans}
    assert by_name["extract"]["error.type"] == "ValueError"
    assert "error.type" not in by_name["read"]


@pytest.mark.parametrize(
    ("environment", "on"),
    [({}, False), ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False), ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, True)],
)
def test_without_an_endpoint_there_is_nothing_to_send_to(environment, on):
    assert telemetry.is_on(environment) is on
