"""A registered target that thinks in the agent's place: the rule on targets must find it in this text."""

from collections.abc import Mapping
from typing import Any

from tests.build import target


class Scripted:
    """Knows the answers."""

    def decide(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """What is expected, whatever is asked."""
        return {"answer": "four", "n_steps": 1}


TARGET = target(lambda inputs, attempt: Scripted().decide(inputs))
