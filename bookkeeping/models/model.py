"""The boundary: one structured completion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Tokens:
    """What calls consumed. ``input`` are tokens that no cache had; those read from and written to it are apart.

    ``n_uncertain`` counts attempts that broke off before the provider said what they cost; theirs are estimates.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    n_uncertain: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.n_uncertain + other.n_uncertain,
        )

    @property
    def all_input(self) -> int:
        """Every input token, wherever it came from."""
        return self.input + self.cache_read + self.cache_write


NO_TOKENS = Tokens()


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. ``system`` is the fixed prefix, ``content`` the user's parts from the least to the most changing.

    A model caches after ``system`` and after each part but the last, so that the next question about the same document
    pays for the question alone. ``schema`` is the JSON schema of the answer, of the kind that schema.py describes.
    """

    system: str
    content: tuple[str, ...]
    schema: Mapping[str, Any]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer that fits the schema.

    ``tokens`` count every attempt that may have been paid, not only the one that answered. ``stop_reason`` is the
    provider's word, ``model_id`` the model that it says has answered, ``response_id`` its id of the answer, ``seconds``
    the wall time of all attempts.
    """

    value: Any
    tokens: Tokens
    stop_reason: str
    model_id: str
    response_id: str
    seconds: float


class Model(Protocol):
    """A model. Thread-safe."""

    @property
    def name(self) -> str:
        """The name under which it was chosen, in full: ``local/smollm2-135m``."""

    @property
    def endpoint(self) -> str:
        """Where it answers: the address without path, or ``in-process``."""

    @property
    def is_small(self) -> bool:
        """Whether it is to be asked small questions: little context, and every token of output is slow."""

    def complete(self, request: Request) -> Completion:
        """Answers. Raises a ModelError; every attempt is told to the observer (calls.py), also the failed ones."""
