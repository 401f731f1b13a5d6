"""One attempt at the Messages API, as a value: what came back, what it cost, and whether another attempt makes sense.

The reply is streamed, so that a connection that breaks leaves behind what the provider had counted by then, and so that
a reply that drips in is ended by the time limit.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any

import anthropic
import httpx2

from bookkeeping.models.errors import (
    ModelError,
    ModelMalformed,
    ModelRateLimited,
    ModelRejected,
    ModelTimedOut,
    ModelUnavailable,
)
from bookkeeping.models.model import NO_TOKENS, Tokens

CONNECT_S = 10.0
CHARACTERS_OF_A_TOKEN = 3
"""For estimates on the safe side: an English token has about four."""

_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_BUSY = frozenset({"rate_limit_error", "overloaded_error"})
_OURS = frozenset({"invalid_request_error", "authentication_error", "permission_error", "not_found_error"})


@dataclass(frozen=True, slots=True)
class Attempt:
    """``error`` None: the provider finished its reply, for ``stop_reason``. ``tokens`` are those of this attempt."""

    text: str = ""
    tokens: Tokens = NO_TOKENS
    model_id: str | None = None
    response_id: str | None = None
    stop_reason: str | None = None
    error: ModelError | None = None
    may_retry: bool = False
    retry_after_s: float | None = None

    def failed(self, error: ModelError, *, may_retry: bool) -> "Attempt":
        """This attempt, ended by an error."""
        return replace(self, error=error, may_retry=may_retry)


def send(client: anthropic.Anthropic, body: Mapping[str, Any], deadline: float) -> Attempt:
    """Makes one attempt. ``deadline`` is a time of ``time.monotonic``. Raises nothing that the wire can cause."""
    reading = _Reading(body)
    left = max(0.001, deadline - time.monotonic())
    timeout = httpx2.Timeout(left, connect=min(CONNECT_S, left))
    try:
        with client.messages.create(**body, stream=True, timeout=timeout) as stream:
            reading.is_sent = True
            for event in stream:
                reading.take(event)
                if time.monotonic() > deadline:
                    return reading.broken(
                        ModelTimedOut("the reply was still coming at the time limit"), may_retry=False
                    )
            is_stream = stream.response.headers.get("content-type", "").startswith("text/event-stream")
    except anthropic.APIStatusError as error:
        return _of_status(reading, error)
    except anthropic.APIConnectionError as error:
        return _of_connection(reading, error, deadline)
    except httpx2.TimeoutException:
        return reading.broken(ModelTimedOut("the reply stopped coming, and the time limit passed"), may_retry=False)
    except httpx2.HTTPError as error:
        return reading.broken(ModelUnavailable(f"the connection was dropped: {type(error).__name__}"), may_retry=True)
    except (anthropic.APIResponseValidationError, ValueError, AttributeError, TypeError) as error:
        # The SDK builds its events without validating them; a body of another shape shows where it is used.
        return reading.broken(ModelMalformed(f"no reply of the Messages API: {type(error).__name__}"), may_retry=False)
    if not is_stream:
        return reading.broken(ModelMalformed("no reply of the Messages API: it is no event stream"), may_retry=False)
    if reading.attempt.stop_reason is None:
        return reading.broken(ModelUnavailable("the reply ended in the middle"), may_retry=True)
    return reading.attempt


class _Reading:
    """What has been read of a reply so far."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.attempt = Attempt()
        self.is_sent = False
        self._estimate = ceil(len(str(body["system"]) + str(body["messages"])) / CHARACTERS_OF_A_TOKEN)

    def take(self, event: Any) -> None:
        """Takes one event of the stream."""
        if event.type == "message_start":
            message = event.message
            self.attempt = replace(
                self.attempt, model_id=str(message.model), response_id=str(message.id), tokens=_tokens(message.usage)
            )
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            self.attempt = replace(self.attempt, text=self.attempt.text + event.delta.text)
        elif event.type == "message_delta":
            tokens = replace(self.attempt.tokens, output=int(event.usage.output_tokens))
            self.attempt = replace(self.attempt, stop_reason=event.delta.stop_reason, tokens=tokens)

    def broken(self, error: ModelError, *, may_retry: bool) -> Attempt:
        """The attempt, which broke off after it was sent: what it cost is what was said, else an estimate."""
        known = self.attempt.tokens
        if self.attempt.stop_reason is None:
            written = ceil(len(self.attempt.text) / CHARACTERS_OF_A_TOKEN)
            has_started = self.attempt.response_id is not None
            known = replace(
                known,
                input=known.input if has_started else self._estimate,
                output=max(known.output, written),
                n_uncertain=1,
            )
        return replace(self.attempt, tokens=known).failed(error, may_retry=may_retry)


def _of_status(reading: _Reading, error: anthropic.APIStatusError) -> Attempt:
    """An error that the provider told: with a status before anything was answered, or in the middle of a stream."""
    kind = _error_type(error.body)
    status = error.response.status_code
    told = f"{status} {kind or 'without a reason'}: {_message(error.body)}" if status != 200 else f"{kind}"
    if status in (429, 529) or kind in _BUSY:
        failure: ModelError = ModelRateLimited(f"the provider is busy: {told}")
    elif (400 <= status < 500 and status not in (408, 409)) or kind in _OURS:
        failure = ModelRejected(f"the provider does not take the request: {told}")
    else:
        failure = ModelUnavailable(f"the provider failed: {told}")
    may_retry = not isinstance(failure, ModelRejected)
    if reading.is_sent:
        return reading.broken(failure, may_retry=may_retry)
    wait = retry_after_s(error.response.headers)
    return replace(reading.attempt.failed(failure, may_retry=may_retry), retry_after_s=wait)


def _of_connection(reading: _Reading, error: anthropic.APIConnectionError, deadline: float) -> Attempt:
    cause = error.__cause__
    if isinstance(cause, _NOT_SENT):
        failure = ModelUnavailable(f"the provider cannot be reached: {type(cause).__name__}")
        return reading.attempt.failed(failure, may_retry=True)
    if isinstance(error, anthropic.APITimeoutError) or time.monotonic() > deadline:
        return reading.broken(ModelTimedOut("no reply within the time limit"), may_retry=False)
    dropped = type(cause).__name__ if cause else "no reason given"
    return reading.broken(ModelUnavailable(f"the connection was dropped: {dropped}"), may_retry=True)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The seconds that a reply asks to wait: a number, or the time until a date; None when it does not ask."""
    written = headers.get("retry-after")
    if not written:
        return None
    try:
        return max(0.0, float(written))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(written).timestamp() - time.time())
    except ValueError:
        return None


def _tokens(usage: Any) -> Tokens:
    return Tokens(
        input=int(usage.input_tokens),
        output=int(usage.output_tokens or 0),
        cache_read=int(usage.cache_read_input_tokens or 0),
        cache_write=int(usage.cache_creation_input_tokens or 0),
    )


def _error_type(body: object) -> str:
    error = body.get("error") if isinstance(body, dict) else None
    return str(error.get("type", "")) if isinstance(error, dict) else ""


def _message(body: object) -> str:
    error = body.get("error") if isinstance(body, dict) else None
    return str(error.get("message", ""))[:200] if isinstance(error, dict) else ""
