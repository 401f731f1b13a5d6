"""The agent of the benchmark: it answers at once, so that what is measured is the harness and nothing else."""

from collections.abc import Mapping
from typing import Any, TypedDict

REASONING = ("bench.echo",)
KEYS = ("a", "b", "c")


class EchoOutputs(TypedDict):
    """What the agent returns for the number ``i``."""

    a: str
    b: str
    c: str


def answer(inputs: Mapping[str, Any]) -> dict[str, str]:
    """The three texts that are expected of ``inputs["i"]``."""
    return expected(inputs["i"])


def expected(number: int) -> dict[str, str]:
    """The same three texts, from the number."""
    return {key: f"{key}-{number}" for key in KEYS}
