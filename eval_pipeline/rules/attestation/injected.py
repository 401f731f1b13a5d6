"""What may be handed to a graph: plain values, objects of attested classes, and the doubles that a target declares."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from types import FunctionType, MethodType
from typing import Any
from uuid import UUID

from eval_pipeline.rules.attestation.objects import attributes

PLAIN = (type(None), bool, int, float, str, bytes, Decimal, Fraction, date, time, timedelta, tzinfo, UUID, PurePath)
OF_THE_ENGINE = (
    "langgraph",
    "langsmith",
    "langchain_core.callbacks",
    "langchain_core.tracers",
    "langchain_core.messages",
)
"""Packages whose objects a graph may be given besides: its checkpoints, its callbacks, messages."""

MAX_DEPTH = 6
_PRETENDERS = re.compile(r"mock|fake|stub", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Allowed:
    """``modules`` are the names of the attested ones, ``doubles`` the classes that the target declares."""

    modules: frozenset[str]
    doubles: frozenset[type]

    def offender(self, value: Any, place: str) -> str | None:
        """The place of the first part that may not be handed to a graph, with what it is; None when all may."""
        return self._offender(value, place, 0, is_part=False)

    def _offender(self, value: Any, place: str, depth: int, *, is_part: bool) -> str | None:
        kind = type(value)
        if kind in self.doubles or depth > MAX_DEPTH:
            return None
        if isinstance(value, PLAIN) and kind.__module__ in _STANDARD:
            return None
        if kind in (dict, list, tuple, set, frozenset) or (isinstance(value, Mapping) and not self._is_own(kind)):
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
            found = (self._offender(item, f"{place}.{key}", depth + 1, is_part=is_part) for key, item in pairs)
            return next((item for item in found if item), None)
        if self._is_attested(value, kind):
            return None if isinstance(value, type | FunctionType | Enum) else self._in_parts(value, kind, place, depth)
        if is_part and not isinstance(value, FunctionType | MethodType) and not _PRETENDERS.search(_name(kind)):
            return None if _is_installed(kind) else f"{place} is a {_name(kind)}"
        return None if kind.__module__.startswith(OF_THE_ENGINE) else f"{place} is a {_name(kind)}"

    def _in_parts(self, value: Any, kind: type, place: str, depth: int) -> str | None:
        for name, item in attributes(value).items():
            if callable(getattr(kind, name, None)) and name in getattr(value, "__dict__", {}):
                return f"{place}.{name} covers a method"
            found = self._offender(item, f"{place}.{name}", depth + 1, is_part=True)
            if found:
                return found
        return None

    def _is_attested(self, value: Any, kind: type) -> bool:
        """Whether it is an attested class or function, or an object of just such a class (a subclass is another)."""
        item = value if isinstance(value, type | FunctionType) else kind
        return self._is_own(item) and _bound(item) is item

    def _is_own(self, item: Any) -> bool:
        return getattr(item, "__module__", None) in self.modules


_STANDARD = frozenset({"builtins", "decimal", "fractions", "datetime", "uuid", "pathlib", "pathlib._local", "zoneinfo"})


def _bound(item: Any) -> Any:
    """What is bound in the running module under the item's own name."""
    found: Any = sys.modules.get(item.__module__)
    for step in item.__qualname__.split("."):
        found = vars(found).get(step) if hasattr(found, "__dict__") else None
    return found


def _is_installed(kind: type) -> bool:
    """Whether a class comes from the standard library or an installed distribution."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    return module is not None and (file is None or str(file).startswith((sys.prefix, sys.base_prefix, sys.exec_prefix)))


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
