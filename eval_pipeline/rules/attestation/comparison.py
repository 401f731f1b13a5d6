"""Running objects beside their reference, part by part, until everything that can be reached has been compared.

Both sides were made by the same source, so what is reached from them has the same form. What the process got from
outside of the attested modules must be the same object on both sides; what the modules made themselves must be equal in
structure: code, defaults, closures, attributes, bases, items. The first thing that is not is a difference.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

from eval_pipeline.rules.attestation.reference import Reference

MAX_DIFFERENCES = 20

ABSENT: Any = object()
"""In the place of a part that one side does not have."""


class Place(NamedTuple):
    """Where something is: the module, and the way to it from there. The name is made when it is told."""

    module: str
    way: Any = ""

    def __truediv__(self, part: object) -> "Place":
        return _new_place(Place, (self[0], (self[1], part)))

    @property
    def name(self) -> str:
        """The dotted name in the module."""
        parts: list[str] = []
        way = self.way
        while isinstance(way, tuple):
            way, part = way
            parts.append(str(part))
        return ".".join(filter(None, (str(way), *reversed(parts))))

    def __str__(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


_new_place = tuple.__new__
"""Places are made by the ten thousand, most of them to be forgotten: the quick way."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in the process that is not what its file defines."""

    place: Place
    told: str


class Hole:
    """In a reference: what is injected. It stands for a value that only the process has, and for its parts."""

    def __init__(self, name: str) -> None:
        self.__dict__["hole"] = name

    def __getattr__(self, name: str) -> "Hole":
        if name.startswith("__"):
            raise AttributeError(name)
        return Hole(f"{self.__dict__['hole']}.{name}")

    def __call__(self, *_: object, **__: object) -> "Hole":
        return Hole(f"{self.__dict__['hole']}()")


@dataclass
class Comparison:
    """A walk over pairs of a running object and its reference.

    ``running`` are the process's modules by name. ``by_type`` says how objects of a type are compared: a function that
    pushes the pairs of their parts and tells differences. ``traits`` is theirs to keep what they know of a type.
    """

    reference: Reference
    running: Mapping[str, ModuleType]
    by_type: Mapping[type, Callable[["Comparison", Any, Any, Place], None]]
    otherwise: Callable[["Comparison", Any, Any, Place], None]
    differences: list[Difference] = field(default_factory=list)
    injected: list[tuple[Place, Any]] = field(default_factory=list)
    traits: dict[type, Any] = field(default_factory=dict)
    _todo: list[tuple[Any, Any, Place]] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _kept: list[Any] = field(default_factory=list)

    def push(self, real: Any, wanted: Any, place: Place) -> None:
        """Has a pair compared, unless it is one object on both sides."""
        if real is not wanted and not _is_same_atom(real, wanted):
            self._todo.append((real, wanted, place))

    def push_items(self, real: Any, wanted: Any, names: Iterable[Any], place: Place) -> None:
        """Has the items under these keys, or at these places, compared."""
        for name in names:
            item, wanted_item = real[name], wanted[name]
            if item is not wanted_item and not _is_same_atom(item, wanted_item):
                self._todo.append((item, wanted_item, place / name))

    def differs(self, place: Place, told: str = "") -> None:
        """Keeps a difference."""
        self.differences.append(Difference(place, told))

    def run(self) -> None:
        """Compares what was pushed and all that it leads to."""
        todo, seen = self._todo, self._seen
        while todo and len(self.differences) < MAX_DIFFERENCES:
            real, wanted, place = todo.pop()
            kind = type(wanted)
            if kind is Hole:
                self.injected.append((place, real))
                continue
            if kind in _ATOMS:
                if type(real) is not kind or not (_same_atom(real, wanted) or _same_reference(real, wanted, place)):
                    self.differs(place)
                continue
            stand_in = self.reference.stand_ins.get(id(wanted))
            if stand_in is not None:
                if real is not stand_in:
                    self.differs(place)
                continue
            pair = (id(real), id(wanted))
            if pair in seen:
                continue
            seen.add(pair)
            self._kept.append((real, wanted))
            if type(real) is not kind:
                if type(real).__qualname__ != kind.__qualname__ or kind.__module__ not in self.reference.sources:
                    self.differs(place, f"it is {_called(type(real))} and not {_called(kind)}")
                    continue
                self.push(type(real), kind, place)
            self.by_type.get(kind, self.otherwise)(self, real, wanted, place)

    def is_fresh_scope(self, scope: object) -> bool:
        """Whether a namespace is that of a fresh module."""
        name = scope.get("__name__") if isinstance(scope, dict) else None
        return name in self.reference.modules and vars(self.reference.modules[name]) is scope


_ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented)})


def _is_same_atom(real: Any, wanted: Any) -> bool:
    """Most of what a table holds: seen before a place is made for it."""
    kind = type(wanted)
    return kind in _ATOMS and type(real) is kind and bool(real == wanted)


def _same_atom(real: Any, wanted: Any) -> bool:
    return bool(real == wanted) or (real != real and wanted != wanted)  # noqa: PLR0124  (NaN)


def _same_reference(real: Any, wanted: Any, place: Place) -> bool:
    """Whether the parts of a pydantic schema refer to the same class: the name has the id of the class in it."""
    if not place.name.endswith(("ref", "schema_ref")) or not isinstance(real, str):
        return False
    return _CLASS_ID.sub(":", real) == _CLASS_ID.sub(":", wanted)


_CLASS_ID = re.compile(r":[0-9]{6,}")


def _called(kind: type) -> str:
    return f"a {kind.__module__}.{kind.__qualname__}".replace("a builtins.", "a ")
