"""Which agents there are. One line an agent; everything else follows by convention."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """Where an agent's parts are, by import path.

    ``package`` holds the agent itself, ``target`` the module with its ``TARGET``, ``evaluators`` the module with its
    evaluators. The dataset is the folder of the agent's name under the datasets folder.
    """

    name: str
    package: str
    target: str
    evaluators: str


def agent(package: str, *, target: str | None = None, evaluators: str | None = None) -> AgentEntry:
    """The entry for an agent's package; its name is the last part of the import path.

    >>> agent("bookkeeping.agents.bookkeeper").target
    'eval_pipeline.targets.bookkeeper'
    """
    name = package.rpartition(".")[2]
    return AgentEntry(
        name=name,
        package=package,
        target=target or f"eval_pipeline.targets.{name}",
        evaluators=evaluators or f"eval_pipeline.evaluators.{name}",
    )


AGENTS: tuple[AgentEntry, ...] = (
    agent("bookkeeping.agents.typewriter"),
    agent("bookkeeping.agents.clerk"),
    agent("bookkeeping.agents.bookkeeper"),
    agent("bookkeeping.agents.auditor"),
)

SKIPPED_AGENTS: frozenset[str] = frozenset()
"""Stays empty: an agent in here would be parked, and a parked agent looks like a pass. A static rule keeps it so."""

JUDGED_KEYS: dict[str, frozenset[str]] = {"clerk": frozenset({"reply_meets_rubric"})}
"""The score keys that a model may decide, by agent. Everything else is an exact comparison."""
