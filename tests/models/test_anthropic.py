"""Claude over the wire: a loopback server speaks the Messages API, well and badly."""

import time
from email.utils import formatdate

import pytest

from bookkeeping.models import (
    ModelMalformed,
    ModelRateLimited,
    ModelRefused,
    ModelRejected,
    ModelTimedOut,
    ModelTruncated,
    ModelUnavailable,
    Request,
    observed,
)
from bookkeeping.models.anthropic import AnthropicModel, Patience
from bookkeeping.models.anthropic_wire import retry_after_s
from tests.models import messages_api as api

SCHEMA = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": ["a", "b"]}, "note": {"type": "string", "maxLength": 9}},
    "required": ["kind", "note"],
    "additionalProperties": False,
}
REQUEST = Request("the fixed prefix", ("<document>", "the question"), SCHEMA, 64)
GOOD = {"kind": "a", "note": "x"}
QUICK = Patience(attempts=4, time_limit_s=20.0, first_wait_s=0.001, longest_wait_s=0.002)
SHORT = Patience(attempts=4, time_limit_s=0.4, first_wait_s=0.001, longest_wait_s=0.002)


def ask(server, patience=QUICK, name="claude-sonnet-5-5"):
    """The completion or the error, and all calls that were observed."""
    calls = []
    model = AnthropicModel(name, "a-key", server.url, patience)
    with observed(calls.append):
        try:
            return model.complete(REQUEST), calls
        except Exception as error:
            return error, calls


def test_an_answer_comes_with_what_it_cost_and_who_gave_it():
    with api.serving(api.answer(GOOD, cache_read=50, cache_write=20)) as server:
        completion, (call,) = ask(server)
    assert completion.value == GOOD
    assert completion.tokens.input == 100
    assert completion.tokens.output == 7
    assert completion.tokens.cache_read == 50
    assert completion.tokens.cache_write == 20
    assert completion.tokens.n_uncertain == 0
    assert (completion.model_id, completion.response_id) == ("claude-served", "msg_1")
    assert completion.stop_reason == "end_turn"
    assert (call.endpoint, call.model, call.model_id) == (server.url, "claude-sonnet-5-5", "claude-served")
    assert call.error is None
    assert call.reply == '{"kind": "a", "note": "x"}'


def test_the_request_enforces_the_schema_and_caches_all_but_the_question():
    with api.serving(api.answer(GOOD)) as server:
        ask(server)
        (sent,) = server.requests
        (headers,) = server.headers
    assert headers["authorization"] == "Bearer a-key"
    cached = {"type": "ephemeral"}
    assert sent["system"] == [{"type": "text", "text": "the fixed prefix", "cache_control": cached}]
    assert sent["messages"][0]["content"] == [
        {"type": "text", "text": "<document>", "cache_control": cached},
        {"type": "text", "text": "the question"},
    ]
    assert sent["output_config"]["effort"] == "low"
    sent_schema = sent["output_config"]["format"]["schema"]
    assert sent_schema["required"] == ["kind", "note"]
    assert sent_schema["properties"]["kind"] == {"type": "string", "enum": ["a", "b"]}
    assert sent_schema["properties"]["note"] == {"type": "string"}
    assert "temperature" not in sent
    assert "thinking" not in sent
    assert sent["max_tokens"] == 64


def test_a_model_that_takes_no_effort_is_sent_none():
    with api.serving(api.answer(GOOD)) as server:
        ask(server, name="claude-haiku-4-5-20251001")
        assert "effort" not in server.requests[0]["output_config"]


@pytest.mark.parametrize(("code", "kind"), [(429, "rate_limit_error"), (529, "overloaded_error")])
def test_a_busy_provider_is_asked_again(code, kind):
    with api.serving(api.status(code, kind), api.status(code, kind), api.answer(GOOD)) as server:
        completion, calls = ask(server)
    assert completion.value == GOOD
    assert completion.tokens.input == 100
    assert [call.error is None for call in calls] == [False, False, True]


@pytest.mark.parametrize(("code", "kind"), [(429, "rate_limit_error"), (529, "overloaded_error")])
def test_a_storm_ends_as_rate_limited_after_the_last_attempt(code, kind):
    with api.serving(api.status(code, kind)) as server:
        error, calls = ask(server)
    assert type(error) is ModelRateLimited
    assert f"{code} {kind}" in str(error)
    assert "attempt 4" in str(error)
    assert len(server.requests) == len(calls) == 4
    assert error.tokens.all_input == 0


@pytest.mark.parametrize("code", [500, 502, 503, 504])
def test_a_failing_provider_is_asked_again_and_then_unavailable(code):
    with api.serving(api.status(code, "api_error"), api.answer(GOOD)) as server:
        assert ask(server)[0].value == GOOD
    with api.serving(api.status(code, "api_error")) as server:
        error, calls = ask(server)
    assert type(error) is ModelUnavailable
    assert len(calls) == 4


def test_retry_after_is_waited_for():
    with api.serving(api.status(429, "rate_limit_error", retry_after="0.3"), api.answer(GOOD)) as server:
        began = time.monotonic()
        completion, _ = ask(server)
        assert time.monotonic() - began >= 0.3
    assert completion.value == GOOD


def test_a_retry_after_beyond_the_time_limit_ends_it_at_once():
    with api.serving(api.status(429, "rate_limit_error", retry_after="3600"), api.answer(GOOD)) as server:
        error, calls = ask(server)
    assert type(error) is ModelRateLimited
    assert "asks to wait 3600 s" in str(error)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("written", "seconds"), [("2", 2.0), ("0.5", 0.5), ("-4", 0.0), ("soon", None), ("", None), (None, None)]
)
def test_retry_after_is_a_number_of_seconds(written, seconds):
    assert retry_after_s({} if written is None else {"retry-after": written}) == seconds


def test_retry_after_may_be_a_date():
    assert 20 < retry_after_s({"retry-after": formatdate(time.time() + 30, usegmt=True)}) <= 31


@pytest.mark.parametrize(
    ("code", "kind"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (403, "permission_error"), (404, "not_found_error"),
     (413, "request_too_large")],
)  # fmt: skip
def test_a_request_that_is_not_taken_is_not_sent_again(code, kind):
    with api.serving(api.status(code, kind)) as server:
        error, calls = ask(server)
    assert type(error) is ModelRejected
    assert "told by the server" in str(error)
    assert len(calls) == 1


def test_headers_that_do_not_come_are_a_time_out_that_may_have_been_paid():
    with api.serving(api.slow_headers(1.0)) as server:
        error, calls = ask(server, SHORT)
    assert type(error) is ModelTimedOut
    assert len(calls) == 1
    assert error.tokens.n_uncertain == 1
    assert error.tokens.input > 0


def test_a_reply_that_drips_is_ended_by_the_time_limit():
    dripping = api.stream(api.events('{"kind": "a", "note": "' + "x" * 200), pause_s=0.05)
    with api.serving(dripping) as server:
        began = time.monotonic()
        error, _ = ask(server, SHORT)
        assert time.monotonic() - began < 5
    assert type(error) is ModelTimedOut
    assert error.tokens.input == 100
    assert error.tokens.n_uncertain == 1


def test_a_cut_stream_is_asked_again_and_both_attempts_are_counted():
    cut = api.stream(api.events('{"kind": "a", "note": "xxxxxxxxxxxxxxx"}'), cut_after=6)
    with api.serving(cut, api.answer(GOOD)) as server:
        completion, calls = ask(server)
    assert completion.value == GOOD
    assert completion.tokens.input == 200
    assert completion.tokens.n_uncertain == 1
    assert completion.tokens.output == 5 + 7  # 15 characters came before the cut, at three to a token
    assert calls[0].error.startswith("ModelUnavailable")
    assert calls[0].reply == '{"kind": "a", "'


def test_streams_that_are_always_cut_end_as_unavailable():
    with api.serving(api.stream(api.events("{}"), cut_after=2)) as server:
        error, calls = ask(server)
    assert type(error) is ModelUnavailable
    assert len(calls) == 4
    assert error.tokens.input == 400
    assert error.tokens.n_uncertain == 4


def test_a_stream_that_ends_without_an_end_is_a_cut_one():
    with api.serving(api.stream(api.events('{"kind": "a"')[:-2])) as server:
        error, calls = ask(server)
    assert type(error) is ModelUnavailable
    assert "ended in the middle" in str(error)
    assert len(calls) == 4


def test_a_connection_dropped_before_any_reply_may_have_been_paid_too():
    with api.serving(api.drop, api.answer(GOOD)) as server:
        completion, calls = ask(server)
    assert completion.value == GOOD
    assert completion.tokens.n_uncertain == 1
    assert completion.tokens.input > 100
    assert calls[0].tokens.n_uncertain == 1


def test_a_provider_that_is_not_there_costs_nothing():
    with api.serving(api.answer(GOOD)) as server:
        gone = server.url
    server.url = gone
    error, calls = ask(server)
    assert type(error) is ModelUnavailable
    assert "cannot be reached" in str(error)
    assert len(calls) == 4
    assert error.tokens.all_input == error.tokens.n_uncertain == 0


def test_an_error_in_the_middle_of_a_stream_is_what_it_says():
    broken = [*api.events("{}")[:2], {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}]
    with api.serving(api.stream(broken), api.answer(GOOD)) as server:
        completion, calls = ask(server)
    assert completion.value == GOOD
    assert calls[0].error.startswith("ModelRateLimited")
    assert completion.tokens.input == 200


@pytest.mark.parametrize("written", ["", "not json", '{"kind": "a", "note": ', "[]", '"a"'])
def test_a_reply_that_is_no_such_json_is_malformed_and_not_asked_for_again(written):
    with api.serving(api.text(written)) as server:
        error, calls = ask(server)
    assert type(error) is ModelMalformed
    assert len(calls) == 1
    assert error.tokens.output == 7


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"kind": "c", "note": ""}, "answer.kind is 'c', which is not allowed"),
        ({"kind": "a"}, "answer.note is missing"),
        ({"kind": "a", "note": 1}, "answer.note is no string"),
        ({"kind": "a", "note": "", "more": 1}, "answer.more is not in the schema"),
    ],
)
def test_a_reply_that_breaks_the_schema_is_malformed(value, told):
    with api.serving(api.answer(value)) as server:
        error, _ = ask(server)
    assert type(error) is ModelMalformed
    assert told in str(error)


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_cut_answer_is_truncated_even_when_it_happens_to_fit(stop_reason):
    with api.serving(api.answer(GOOD, stop_reason=stop_reason)) as server:
        error, calls = ask(server)
    assert type(error) is ModelTruncated
    assert len(calls) == 1
    assert error.tokens.output == 7


def test_a_refusal_is_a_refusal_whatever_the_text_is():
    with api.serving(api.answer(GOOD, stop_reason="refusal")) as server:
        error, calls = ask(server)
    assert type(error) is ModelRefused
    assert len(calls) == 1


@pytest.mark.parametrize("stop_reason", ["tool_use", "pause_turn"])
def test_a_stop_that_no_answer_has_is_malformed(stop_reason):
    with api.serving(api.answer(GOOD, stop_reason=stop_reason)) as server:
        assert type(ask(server)[0]) is ModelMalformed


@pytest.mark.parametrize("body", ["<html>a proxy's page</html>", "{}", '{"type": "message", "content": []}'])
def test_what_is_no_reply_of_the_api_is_malformed(body):
    with api.serving(api.page(body)) as server:
        error, _ = ask(server)
    assert type(error) is ModelMalformed
    assert error.tokens.n_uncertain == 1


def test_events_of_another_shape_are_malformed():
    with api.serving(
        api.page('event: message_start\ndata: {"type": "message_start"}\n\n', "text/event-stream")
    ) as server:
        assert type(ask(server)[0]) is ModelMalformed
    with api.serving(api.page("event: message_start\ndata: {broken\n\n", "text/event-stream")) as server:
        assert type(ask(server)[0]) is ModelMalformed


def test_the_key_is_in_no_error():
    for step in (api.status(401, "authentication_error"), api.drop, api.page("{}")):
        with api.serving(step) as server:
            error, calls = ask(server)
        assert "a-key" not in repr(error) + repr(calls)


def test_waits_grow_and_stop_growing():
    patience = Patience(first_wait_s=1.0, longest_wait_s=4.0)
    for n_failed, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0)):
        assert longest / 2 <= patience.wait_s(n_failed, None) <= longest
    assert patience.wait_s(1, 30.0) == 30.0
