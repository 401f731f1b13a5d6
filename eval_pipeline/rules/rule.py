"""What a rule is, and how it names its offenders."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from eval_pipeline.suite import AgentSuite


class Severity(StrEnum):
    """What a broken rule means: ERROR turns the board red, WARN is told."""

    ERROR = "ERROR"
    WARN = "WARN"


@dataclass(frozen=True, slots=True)
class Offence:
    """One offender: the rule, the agent, what is wrong, and where: file, example, key."""

    rule: str
    agent: str
    message: str
    file: Path | None = None
    example: str | None = None
    key: str | None = None

    def __str__(self) -> str:
        where = [part for part in (self.agent, self.example, self.key) if part]
        place = f" ({self.file})" if self.file else ""
        return f"{'/'.join(where)}: {self.message}{place}"


Check = Callable[[AgentSuite], Iterable[Offence]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule about one agent's dataset, target and evaluators. ``why`` says what goes wrong without it."""

    name: str
    why: str
    check: Check


def static_rule(name: str, why: str) -> Callable[[Check], Rule]:
    """Declares a static rule; in an evaluators module it is a rule that only this agent has."""

    def declare(check: Check) -> Rule:
        return Rule(name, why, check)

    return declare
