"""One agent attested: its modules against their source, then the graph that its target runs."""

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from eval_pipeline.errors import one_line
from eval_pipeline.guard import SUBSTITUTED, ReasoningSubstituted
from eval_pipeline.registry import AgentEntry
from eval_pipeline.rules.attestation.comparison import Difference, Place
from eval_pipeline.rules.attestation.graphs import engine_differences, graph_differences
from eval_pipeline.rules.attestation.injected import Allowed
from eval_pipeline.rules.attestation.modules import module_differences
from eval_pipeline.rules.attestation.reference import Reference
from eval_pipeline.rules.attestation.sources import Files, find_files, stale_bytecode
from eval_pipeline.rules.rule import Offence
from eval_pipeline.settings import PROJECT
from eval_pipeline.suite import AgentSuite, reasoning_of
from eval_pipeline.target import Target, load_target

RULE = "reasoning_is_the_one_on_disk"
WHY = "a board that grades a substitute is worth less than no board, because it is believed"

COMMON = (
    "bookkeeping.documents",
    "bookkeeping.ledger",
    "bookkeeping.migration",
    "bookkeeping.models",
    "bookkeeping.ports",
)
"""Packages that every agent's reasoning may lean on."""

WAY = ("eval_pipeline.attempt", "eval_pipeline.guard", "eval_pipeline.trace")
"""The harness's own way from a target to the graph and back."""

_lock = threading.RLock()
_references: dict[tuple[str, ...], tuple[Files, Reference]] = {}


def substituted(offences: Sequence[Offence]) -> str:
    """Differences as a board tells them: the first, and how many more."""
    more = f" (and {len(offences) - 1} more)" if len(offences) > 1 else ""
    return f"{SUBSTITUTED}: {offences[0].message}{more}"


class Attestation:
    """One agent in this process. It is a guard: ``check`` is called with every graph that its target runs.

    Sent to another process it begins anew there, with the registered target of that process.
    """

    def __init__(self, entry: AgentEntry, target: Target | None, name: str | None = None) -> None:
        self._entry, self._target, self._name = entry, target, name or entry.name
        self._checked: list[object] = []
        self._compared: set[str] = set()

    @classmethod
    def of(cls, suite: AgentSuite) -> "Attestation":
        """The attestation of an agent as it was loaded."""
        return cls(suite.entry, suite.target, suite.name)

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._has_own_target:
            raise TypeError(f"{self._entry.target} has no TARGET that another process could load")
        return _loaded, (self._entry, self._name)

    @cached_property
    def _doubles(self) -> frozenset[type]:
        return frozenset(item.double for item in self._target.substitutions) if self._target else frozenset()

    @cached_property
    def _names(self) -> tuple[str, ...]:
        doubles = sorted({double.__module__ for double in self._doubles})
        return (*reasoning_of(self._entry), *COMMON, self._entry.target, *doubles, *WAY)

    @cached_property
    def _has_own_target(self) -> bool:
        """Whether the agent's target is that of its registered module (a test may bring one along)."""
        return hasattr(import_module(self._entry.target), "TARGET")

    @property
    def requires_graph(self) -> bool:
        """Whether outputs count only when the agent's graph ran."""
        return self._has_own_target

    def differences(self) -> tuple[Offence, ...]:
        """What in the process is not what the files define. Imports the agent's graph module, runs no graph.

        A graph module that cannot be imported is told, not raised.
        """
        try:
            return self._differences()
        except Exception as error:  # importing an agent may raise anything; its board says what
            return (Offence(RULE, self._name, f"the reasoning cannot be compared: {one_line(error)}"),)

    def _differences(self) -> tuple[Offence, ...]:
        with _lock:
            module = import_module(self._entry.target)
            if self._has_own_target and getattr(module, "TARGET", None) is not self._target:
                return (self._offence(self._reference(), Difference(Place(module.__name__, "TARGET"), "")),)
            if self._graph_module in self._reference().sources:
                import_module(self._graph_module)
            reference = self._reference()
            found = [*module_differences(reference), *_stale(reference), *engine_differences()]
            for graph in self._checked if self._graph_module in reference.sources else ():
                found.extend(graph_differences(reference, self._graph_module, graph)[0])
            self._compared = set(reference.loaded)
            return tuple(self._offence(reference, item) for item in sorted(set(found), key=_by_place))

    def check(self, graph: object, given: Mapping[str, Any]) -> None:
        """Lets a graph run that is built as the source builds it, and that is given nothing but what may be given."""
        allowed = self._allowed
        for name, value in given.items():
            offender = allowed.offender(value, name)
            if offender is not None:
                raise ReasoningSubstituted(
                    f"{offender}, which is neither a declared storage port nor a registered model"
                )
        if any(graph is item for item in self._checked):
            return
        with _lock:
            if any(graph is item for item in self._checked):
                return
            self._check_graph(graph, allowed)
            self._checked.append(graph)

    @property
    def _graph_module(self) -> str:
        return f"{self._entry.package}.graph"

    @cached_property
    def _allowed(self) -> Allowed:
        packages = (*reasoning_of(self._entry), *COMMON)
        modules = (name for name in self._reference().sources if any(f"{name}.".startswith(f"{p}.") for p in packages))
        return Allowed(frozenset(modules), self._doubles)

    def _check_graph(self, graph: object, allowed: Allowed) -> None:
        reference = self._reference()
        if self._graph_module not in reference.sources:
            if self._has_own_target:
                raise ReasoningSubstituted(f"there is no {self._graph_module} that builds the graph")
            return
        if not self._compared:
            earlier = self.differences()
            if earlier:
                raise ReasoningSubstituted(earlier[0].message)
        late = module_differences(reference, self._compared)
        found, injected = (late, ()) if late else graph_differences(reference, self._graph_module, graph)
        if found:
            raise ReasoningSubstituted(self._offence(reference, found[0]).message)
        for place, value in injected:
            offender = allowed.offender(value, str(place))
            if offender is not None:
                raise ReasoningSubstituted(
                    f"{offender}, which is neither a declared storage port nor a registered model"
                )

    def _reference(self) -> Reference:
        """The fresh modules; made anew when a file has changed since. Known within this process only."""
        files = find_files(self._names)
        known = _references.get(self._names)
        if known is None or known[0] != files:
            known = _references[self._names] = (files, Reference(files.sources))
        return known[1]

    def _offence(self, reference: Reference, found: Difference) -> Offence:
        source = reference.sources.get(found.place.module)
        file = source.file if source else None
        told = f" ({found.told})" if found.told else ""
        return Offence(RULE, self._name, f"{found.place} is not the one in {_shown(file)}{told}", file)


def _loaded(entry: AgentEntry, name: str) -> Attestation:
    return Attestation(entry, load_target(entry), name)


def _stale(reference: Reference) -> Sequence[Difference]:
    """Compiled files that do not come from their source; an import that is still to come would take them."""
    loaded = set(reference.loaded)
    waiting = (source for name, source in reference.sources.items() if name not in loaded)
    return [
        Difference(Place(source.module), f"{_shown(file)} holds other code")
        for source in waiting
        if (file := stale_bytecode(source)) is not None
    ]


def _shown(file: Path | None) -> str:
    if file is None:
        return "Python"
    return str(file.relative_to(PROJECT)) if file.is_relative_to(PROJECT) else str(file)


def _by_place(found: Difference) -> tuple[str, str]:
    return found.place.module, found.place.name
