"""What an attempt asked of models: every call becomes a span with prompt, reply, tokens and latency, and is counted.

A target runs its graph within ``recorded_calls``. The models themselves are watched, not wrapped: the agent holds the
very model that it would hold anywhere else.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from bookkeeping.models import ModelCall, cost_usd, observed
from eval_pipeline.outcome import ModelIdentity, Span, Usage
from eval_pipeline.trace import AS_BEFORE, Recorder, current


@contextmanager
def recorded_calls() -> Iterator[None]:
    """Records the model calls of the current attempt, those of failed attempts at an answer too."""
    recorder = current()
    told: set[str] = set()

    def record(call: ModelCall) -> None:
        system = AS_BEFORE if call.request.system in told else call.request.system
        told.add(call.request.system)
        _record(recorder, call, system)

    with observed(record):
        yield


def _record(recorder: Recorder, call: ModelCall, system: str) -> None:
    tokens = call.tokens
    cost = cost_usd(call.model, tokens)
    recorder.usage += Usage(1, tokens.all_input, tokens.output, cost)
    known = recorder.model
    returned_id = call.model_id or (known.returned_id if known else None)
    recorder.model = ModelIdentity(call.model, call.endpoint, returned_id)
    asked = {"system": system, "content": call.request.content, "max_tokens": call.request.max_tokens}
    answered = {
        "reply": call.reply,
        "stop_reason": call.stop_reason,
        "tokens": tokens,
        "cost_usd": cost,
        "model": call.model_id,
        "response_id": call.response_id,
    }
    start = max(0.0, recorder.now() - call.seconds)
    recorder.add(
        Span("model", call.model, start, call.seconds, recorder.shown(asked), recorder.shown(answered), call.error)
    )
