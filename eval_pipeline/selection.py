"""Which examples run: ``AGENT[/EXAMPLE-GLOB]``, narrowed by tag, by the last verdict, and by a limit for each agent."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

from eval_pipeline.dataset import Example
from eval_pipeline.errors import ConfigError
from eval_pipeline.suite import AgentSuite

LAST = {
    "red": frozenset({"FAIL", "ERROR", "XPASS"}),
    "fail": frozenset({"FAIL"}),
    "error": frozenset({"ERROR"}),
    "xpass": frozenset({"XPASS"}),
    "skip": frozenset({"SKIP"}),
}
"""What ``--last`` accepts, and the verdicts that it stands for."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a user asked for. Empty ``select`` is everything."""

    select: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    last: str | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        """Raises ConfigError for a limit below 1 or an unknown ``last``."""
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"--limit {self.limit}: at least 1 example is needed")
        if self.last is not None and self.last not in LAST:
            raise ConfigError(f"--last {self.last}: one of {', '.join(LAST)}")

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that it names (of a pack: whose pack it is), each once; empty for all."""
        return tuple(dict.fromkeys(item.partition("/")[0].partition("@")[0] for item in self.select))

    @property
    def below_a_whole_agent(self) -> bool:
        """Whether it can leave out examples of an agent that it names: then the board is partial."""
        return bool(any("/" in item for item in self.select) or self.tags or self.last or self.limit)

    def as_json(self) -> dict[str, Any]:
        """For the results database."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def selected(
    selection: Selection, suite: AgentSuite, last_verdicts: Mapping[str, str] | None = None
) -> tuple[Example, ...]:
    """The selected examples of one agent, in the order of its dataset.

    ``last_verdicts`` are the verdicts by example id of the last run; needed for ``--last``.
    """
    names = (suite.name, suite.entry.name)
    globs = [glob or "*" for name, _, glob in (item.partition("/") for item in selection.select) if name in names]
    if selection.select and not globs:
        return ()
    wanted: Collection[str] = LAST[selection.last] if selection.last else ()
    verdicts = last_verdicts or {}
    chosen = [
        example
        for example in suite.dataset.examples
        if (not globs or any(fnmatchcase(example.id, glob) for glob in globs))
        and (not selection.tags or set(selection.tags) & set(example.tags))
        and (not selection.last or verdicts.get(example.id) in wanted)
    ]
    return tuple(chosen[: selection.limit])


def require_some(selection: Selection, chosen: Mapping[str, Sequence[Example]]) -> None:
    """Raises ConfigError when nothing at all is selected, or when one of the patterns matches nothing."""
    for item in selection.select:
        name, _, glob = item.partition("/")
        of_agent = [example for agent, examples in chosen.items() if _is_of(agent, name) for example in examples]
        if not any(fnmatchcase(example.id, glob or "*") for example in of_agent):
            raise ConfigError(f"the selection {item!r} matches no example")
    if not any(chosen.values()):
        raise ConfigError("the selection matches no example")


def _is_of(agent: str, name: str) -> bool:
    return name in (agent, agent.partition("@")[0])
