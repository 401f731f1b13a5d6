"""Claude, by the official SDK: structured output by schema, prompt caching, and retries that hide no cost.

Retried are 429, 529, 5xx and connections that were refused or dropped, with exponential backoff and full jitter, never
sooner than ``retry-after`` says and never past the time limit. An answer is never asked for again: one that is cut,
refused or malformed is an error at once. An attempt that broke off after it was sent may have been paid; it is counted
before the next one, with what the provider had said by then, else with an estimate (``Tokens.n_uncertain``).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from random import SystemRandom
from typing import Any
from urllib.parse import urlsplit

import anthropic

from bookkeeping.models.anthropic_wire import Attempt, send
from bookkeeping.models.calls import ModelCall, tell
from bookkeeping.models.errors import ModelError, ModelMalformed, ModelRefused, ModelTimedOut, ModelTruncated
from bookkeeping.models.model import NO_TOKENS, Completion, Request, Tokens
from bookkeeping.models.prices import listed
from bookkeeping.models.schema import parse

PROVIDER = "https://api.anthropic.com"
_KEPT = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "description"})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: attempts at most, the time limit of all of them, and the waits between in seconds."""

    attempts: int = 6
    time_limit_s: float = 90.0
    first_wait_s: float = 0.5
    longest_wait_s: float = 16.0

    def wait_s(self, n_failed: int, retry_after_s: float | None) -> float:
        """How long to wait after so many failed attempts."""
        backoff = min(self.longest_wait_s, self.first_wait_s * 2 ** (n_failed - 1))
        jittered = SystemRandom().uniform(backoff / 2, backoff)
        return max(jittered, retry_after_s or 0.0)


class AnthropicModel:
    """A Claude model. ``base_url`` None is the provider's own address."""

    is_small = False

    def __init__(self, name: str, api_key: str, base_url: str | None = None, patience: Patience = Patience()) -> None:
        address = urlsplit(base_url or PROVIDER)
        self.name = name
        self.endpoint = f"{address.scheme}://{address.netloc.rpartition('@')[2]}"
        self._patience = patience
        self._client = anthropic.Anthropic(api_key=api_key, base_url=base_url or PROVIDER, max_retries=0)

    def complete(self, request: Request) -> Completion:
        """Answers. Raises a ModelError, with the tokens of all attempts."""
        began = time.monotonic()
        deadline = began + self._patience.time_limit_s
        body = self._body(request)
        spent = NO_TOKENS
        for n_attempt in range(1, self._patience.attempts + 1):
            started = time.monotonic()
            attempt = send(self._client, body, deadline)
            spent += attempt.tokens
            value, error = _answer(attempt, request)
            self._tell(request, attempt, error, time.monotonic() - started)
            if error is None:
                return _completion(attempt, value, spent, time.monotonic() - began)
            wait = self._patience.wait_s(n_attempt, attempt.retry_after_s)
            if not attempt.may_retry or n_attempt == self._patience.attempts:
                raise _with_tokens(error, spent, n_attempt)
            if time.monotonic() + wait >= deadline:
                raise self._out_of_time(error, attempt, spent, wait)
            time.sleep(wait)
        raise AssertionError("no attempt was made")

    def _out_of_time(self, error: ModelError, attempt: Attempt, spent: Tokens, wait: float) -> ModelError:
        limit = f"the time limit is {self._patience.time_limit_s:g} s"
        if attempt.retry_after_s:
            return type(error)(f"{error}; the provider asks to wait {attempt.retry_after_s:g} s, {limit}", spent)
        return ModelTimedOut(f"{error}; {limit}, and the next attempt would be in {wait:.1f} s", spent)

    def _body(self, request: Request) -> dict[str, Any]:
        """The parameters of the Messages API: a cache breakpoint after the prefix and after each part but the last."""
        *fixed, last = request.content
        entry = listed(self.name)
        effort = {"effort": entry.effort} if entry and entry.effort else {}
        return {
            "model": self.name,
            "max_tokens": request.max_tokens,
            "system": [_cached(request.system)],
            "messages": [{"role": "user", "content": [*map(_cached, fixed), {"type": "text", "text": last}]}],
            "output_config": {"format": {"type": "json_schema", "schema": enforceable(request.schema)}, **effort},
        }

    def _tell(self, request: Request, attempt: Attempt, error: ModelError | None, seconds: float) -> None:
        tell(
            ModelCall(
                model=self.name,
                endpoint=self.endpoint,
                request=request,
                seconds=seconds,
                model_id=attempt.model_id,
                response_id=attempt.response_id,
                reply=attempt.text,
                stop_reason=attempt.stop_reason,
                tokens=attempt.tokens,
                error=None if error is None else f"{type(error).__name__}: {error}",
            )
        )


def enforceable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with what the API enforces; it refuses lengths and ranges."""
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if "properties" in kept:
        kept["properties"] = {name: enforceable(part) for name, part in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = enforceable(kept["items"])
    return kept


def _cached(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


def _answer(attempt: Attempt, request: Request) -> tuple[Any, ModelError | None]:
    """The value of an attempt that was answered, or the error that it comes to."""
    if attempt.error is not None:
        return None, attempt.error
    match attempt.stop_reason:
        case "end_turn" | "stop_sequence":
            value, told = parse(attempt.text, request.schema)
            return value, ModelMalformed(f"the reply does not fit: {told}") if told else None
        case "max_tokens" | "model_context_window_exceeded":
            return None, ModelTruncated(
                f"the reply was cut after {attempt.tokens.output} tokens ({attempt.stop_reason})"
            )
        case "refusal":
            return None, ModelRefused("the model refuses to answer")
        case other:
            return None, ModelMalformed(f"the model stopped for {other!r}, which no answer does")


def _completion(attempt: Attempt, value: Any, spent: Tokens, seconds: float) -> Completion:
    return Completion(
        value, spent, attempt.stop_reason or "", attempt.model_id or "", attempt.response_id or "", seconds
    )


def _with_tokens(error: ModelError, spent: Tokens, n_attempts: int) -> ModelError:
    told = f"{error} (attempt {n_attempts})" if n_attempts > 1 else str(error)
    return type(error)(told, spent)
