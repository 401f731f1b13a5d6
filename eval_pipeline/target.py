"""Targets: how the harness runs an agent's real graph on one example.

A target opens once for a run (``open``), which gives a function from inputs to outputs; that function is called once
for each attempt. It runs the agent's compiled graph. The only things it may replace are storage ports, and it names
each in ``substitutions``.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol

from eval_pipeline.errors import ConfigError
from eval_pipeline.registry import AgentEntry

Inputs = Mapping[str, Any]
Outputs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at one example: whose it is, and a name that no other attempt of any run has."""

    run_id: str
    agent: str
    example_id: str
    trial: int
    token: str

    @property
    def name(self) -> str:
        """A unique, readable name for what the attempt stores (a book, a queue)."""
        return f"{self.agent}-{self.example_id}-{self.trial}-{self.token}"


RunOne = Callable[[dict[str, Any], Attempt], Outputs | Awaitable[Outputs]]


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a target gets when it opens: the root run's id, the ledger's address, and the model's name, if any."""

    run_id: str
    ledger_url: str | None
    model: str | None


class Prerequisite(Protocol):
    """Something a target needs. ``missing`` gives the reason why it is not there, or None when it is."""

    def missing(self, context: RunContext) -> str | None:
        """Probed once before the first example. Must not raise for what is merely not there."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """A storage port (a Protocol marked as one in ``bookkeeping``) and the double that stands in for it."""

    port: type
    double: type


@dataclass(frozen=True)
class Target:
    """How to run one agent.

    ``outputs`` is the TypedDict of what the graph returns; its keys are what ``only_when`` may name. ``requires`` gives
    the prerequisites for given inputs. ``runs`` says where an attempt runs: ``thread`` for blocking code (the default),
    ``loop`` for a coroutine function, ``process`` for code that a thread cannot stop (a loop that computes, a library
    that does not come back): each process opens the target for itself, so ``open`` must be a function of a module.
    ``timeout_s`` is the time limit of one attempt. ``at_once`` says how many attempts make sense at once, where that is
    fewer than the settings allow: a model in this process answers one at a time, and who waits for it is not working.
    """

    agent: str
    outputs: type
    open: Callable[[RunContext], AbstractContextManager[RunOne]]
    requires: Callable[[Inputs], tuple[Prerequisite, ...]]
    substitutions: tuple[Substitution, ...] = ()
    runs: Literal["thread", "loop", "process"] = "thread"
    timeout_s: float = 60.0
    at_once: Callable[[RunContext], int | None] = lambda _: None

    @property
    def output_names(self) -> frozenset[str]:
        """The names of the outputs."""
        return frozenset(self.outputs.__annotations__)


class AgentNotInstalled(Exception):
    """The agent's package is not there (its branch has not landed): a SKIP, never an ERROR."""


def load_target(entry: AgentEntry) -> Target:
    """The agent's target.

    Raises AgentNotInstalled when the registered package itself cannot be found, ConfigError when the module has no
    ``TARGET`` for this agent. Any other import error travels as it is: a broken agent is an ERROR.
    """
    try:
        import_module(entry.package)
        module = import_module(entry.target)
    except ModuleNotFoundError as error:
        if is_not_installed(entry, error):
            raise AgentNotInstalled(f"package {entry.package} is not installed") from None
        raise
    target = getattr(module, "TARGET", None)
    if not isinstance(target, Target) or target.agent != entry.name:
        raise ConfigError(f"{entry.target} has no TARGET for agent {entry.name!r}")
    return target


def is_not_installed(entry: AgentEntry, error: ModuleNotFoundError) -> bool:
    """Whether what was not found is the registered package itself or a package that it lies in."""
    missing = error.name or ""
    return bool(missing) and (entry.package == missing or entry.package.startswith(f"{missing}."))
