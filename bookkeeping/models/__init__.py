"""The model boundary: what agents ask of a model, which models there are, and where their providers serve them.

    model = resolve("local", os.environ)
    if isinstance(model, NoModel): ...          # why there is none
    answer = model.complete(Request(system=..., content=(...,), schema=..., max_tokens=512))

Importing this package is cheap; an SDK or a native library is imported when its model is made.
"""

from bookkeeping.models.calls import ModelCall, observed
from bookkeeping.models.errors import (
    ModelError,
    ModelMalformed,
    ModelRateLimited,
    ModelRefused,
    ModelRejected,
    ModelTimedOut,
    ModelTruncated,
    ModelUnavailable,
)
from bookkeeping.models.model import NO_TOKENS, Completion, Model, Request, Tokens
from bookkeeping.models.prices import cost_usd
from bookkeeping.models.registry import (
    DEFAULT_MODEL,
    NoModel,
    UnknownModel,
    full_name,
    is_in_process,
    require,
    resolve,
    why_missing,
)
from bookkeeping.models.schema import object_schema

PROVIDER_ENDPOINTS = frozenset({"https://api.anthropic.com", "in-process"})
"""Endpoints that are the provider's own: a board made against any other cannot gate unless settings allow it."""

__all__ = [
    "DEFAULT_MODEL",
    "NO_TOKENS",
    "PROVIDER_ENDPOINTS",
    "Completion",
    "Model",
    "ModelCall",
    "ModelError",
    "ModelMalformed",
    "ModelRateLimited",
    "ModelRefused",
    "ModelRejected",
    "ModelTimedOut",
    "ModelTruncated",
    "ModelUnavailable",
    "NoModel",
    "Request",
    "Tokens",
    "UnknownModel",
    "cost_usd",
    "full_name",
    "is_in_process",
    "object_schema",
    "observed",
    "require",
    "resolve",
    "why_missing",
]
