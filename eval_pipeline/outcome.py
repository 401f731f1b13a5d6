"""The outcome: what one trial of one example left behind. Everything after it works on stored outcomes alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

OUTPUT_SCHEMA = 1
"""Version of the form of an outcome. A stored outcome of another version is not read, it is told so."""


class Status(StrEnum):
    """How a trial ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"


class FailureKind(StrEnum):
    """Why a trial has no outputs that can be graded."""

    RAISED = "raised"
    TIMEOUT = "timeout"
    INVALID_OUTPUTS = "invalid_outputs"
    REFUSED = "refused"
    """Refused before anything ran: a broken static rule, or reasoning that is not the one on disk."""
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong: one line for the board, and the traceback for whoever mends it."""

    kind: FailureKind
    message: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What the models of one trial consumed. ``cost_usd`` is an estimate from list prices, in US dollars."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.model_calls + other.model_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
        )


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model answered: the name that was asked for, the endpoint, and the id that the provider returned."""

    name: str
    endpoint: str
    returned_id: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """One step of an agent: a graph node or a model call. Times are seconds from the start of the trial.

    ``input`` and ``output`` are JSON values, cut when they are large.
    """

    kind: str
    name: str
    start: float
    seconds: float
    input: Any = None
    output: Any = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one trial of one example left behind.

    Exactly one of ``outputs``, ``failure`` and ``skip_reason`` is there, as ``status`` says. ``run_id`` is the root
    run; ``position`` the place of the example in its dataset; ``started_at`` is UTC; ``seconds`` wall time.
    ``outputs_text`` is the canonical text of ``outputs`` where it was made already, so that it is made once.
    """

    run_id: str
    agent: str
    example_id: str
    trial: int
    position: int
    status: Status
    inputs_digest: str
    started_at: datetime
    seconds: float
    outputs: Mapping[str, Any] | None = None
    failure: Failure | None = None
    skip_reason: str | None = None
    usage: Usage = NO_USAGE
    model: ModelIdentity | None = None
    spans: tuple[Span, ...] = ()
    schema: int = OUTPUT_SCHEMA
    outputs_text: str | None = field(default=None, repr=False, compare=False)
