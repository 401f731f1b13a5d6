"""Everything that is registered, loaded: for each agent its dataset, its target and its evaluators."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path

from eval_pipeline.dataset import Dataset, load_dataset
from eval_pipeline.errors import ConfigError, one_line
from eval_pipeline.evaluator import Evaluator, load_evaluators
from eval_pipeline.provenance import GRADING, code_digest
from eval_pipeline.registry import AGENTS, AgentEntry
from eval_pipeline.target import AgentNotInstalled, Target, is_not_installed, load_target


@dataclass(frozen=True)
class AgentSuite:
    """One agent with all that grades it.

    ``not_installed`` is the reason when the agent's package is not there (its examples SKIP), ``broken`` when one of
    its parts cannot be imported or is missing (its examples are ERROR). In both cases ``target`` and ``evaluators``
    are empty.
    """

    entry: AgentEntry
    dataset: Dataset
    target: Target | None = None
    evaluators: tuple[Evaluator, ...] = ()
    not_installed: str | None = None
    broken: str | None = None
    pack: str | None = None

    @property
    def name(self) -> str:
        """The agent's name; with ``@pack`` when the examples are those of a pack."""
        return f"{self.entry.name}@{self.pack}" if self.pack else self.entry.name

    @cached_property
    def reasoning(self) -> tuple[str, ...]:
        """The packages that hold the agent's reasoning."""
        return reasoning_of(self.entry)

    def code_version(self, model: str | None) -> str:
        """What outcomes depend on besides the dataset: the reasoning, the target, and the model's name."""
        if self.target is None:
            return f"none: {self.not_installed or self.broken}"
        return code_digest((*self.reasoning, self.entry.target))[:32] + (f"+{model}" if model else "")

    @cached_property
    def evaluators_digest(self) -> str:
        """What scores depend on besides the outcomes: the agent's evaluators and the grading."""
        if self.target is None:
            return "none"
        return code_digest((self.entry.evaluators, *GRADING))[:32]


def reasoning_of(entry: AgentEntry) -> tuple[str, ...]:
    """The packages that hold an agent's reasoning, as it declares them, its own package first."""
    declared = getattr(import_module(entry.package), "REASONING", ())
    return tuple(dict.fromkeys((entry.package, *declared)))


def load_agent(entry: AgentEntry, datasets: Path) -> AgentSuite:
    """Loads one agent. Raises DatasetError; a part that cannot be imported is told in the suite, not raised."""
    dataset = load_dataset(datasets / entry.name)
    try:
        return AgentSuite(entry, dataset, load_target(entry), load_evaluators(entry))
    except AgentNotInstalled as reason:
        return AgentSuite(entry, dataset, not_installed=str(reason))
    except ModuleNotFoundError as error:
        if is_not_installed(entry, error):
            return AgentSuite(entry, dataset, not_installed=f"package {entry.package} is not installed")
        return AgentSuite(entry, dataset, broken=_broken(entry, error))
    except Exception as error:  # an agent's import may raise anything; its board says what
        return AgentSuite(entry, dataset, broken=_broken(entry, error))


def _broken(entry: AgentEntry, error: Exception) -> str:
    return str(error) if isinstance(error, ConfigError) else f"{entry.name} cannot be imported: {one_line(error)}"


def load_suite(datasets: Path, only: Sequence[str] = ()) -> tuple[AgentSuite, ...]:
    """Loads the registered agents, or those named. Raises ConfigError for a name that is not registered."""
    for name in only:
        known_agent(name)
    return tuple(load_agent(entry, datasets) for entry in AGENTS if not only or entry.name in only)


def known_agent(name: str) -> AgentEntry:
    """The registered agent of that name. Raises ConfigError when there is none."""
    known = {entry.name: entry for entry in AGENTS}
    if name not in known:
        raise ConfigError(f"there is no agent {name!r}; registered are: {', '.join(known)}")
    return known[name]
