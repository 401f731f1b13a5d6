"""How containers, cached functions and instances are compared."""

import functools
import gc
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from types import FunctionType, MappingProxyType
from typing import Any

from eval_pipeline.rules.attestation.comparison import ABSENT, Comparison, Place
from eval_pipeline.rules.attestation.definitions import compare_class

TRANSPARENT = ("langgraph", "langchain_core")
"""Distributions whose objects are compared by their attributes: graphs are made of them."""

MAX_REMEMBERED = 64
"""Results of one cached function that are compared."""

HARNESS = "eval_pipeline."
"""Objects of the harness's own attested modules hold what a run is doing; their classes are compared, not they."""


def compare_dict(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Keys in their order, values."""
    if isinstance(wanted, MappingProxyType):
        real, wanted = dict(real), dict(wanted)
    keys, wanted_keys = list(real), list(wanted)
    if keys == wanted_keys:
        walk.push_items(real, wanted, keys, place)
        return
    if len(keys) != len(wanted_keys):
        walk.differs(place, f"it has {len(keys)} items and not {len(wanted_keys)}")
        return
    if real.keys() == wanted.keys():
        walk.differs(place, "its items have another order")
        return
    for key, wanted_key in zip(keys, wanted_keys, strict=True):
        walk.push(key, wanted_key, place)
        walk.push(real[key], wanted[wanted_key], place / wanted_key)


def compare_sequence(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Item by item."""
    if len(real) != len(wanted):
        walk.differs(place)
        return
    walk.push_items(real, wanted, range(len(wanted)), place)


def compare_set(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Equal, or the same classes and functions by their names."""
    if real == wanted:
        return
    named, wanted_named = ({_label(item): item for item in items} for items in (real, wanted))
    if named.keys() != wanted_named.keys() or len(named) != len(real):
        walk.differs(place)
        return
    walk.push_items(named, wanted_named, named, place)


def _label(item: Any) -> str:
    kind = type(item)
    return f"{kind.__qualname__} {getattr(item, '__module__', '')}.{getattr(item, '__qualname__', repr(item))}"


def compare_cached(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """A function behind ``functools.cache``: the function that it really calls, and the tables that it holds.

    A result that is data is compared with what the fresh function returns, which reads its files again. Of more than
    ``MAX_REMEMBERED`` results as many are compared and all are forgotten: what is computed anew needs no comparison.
    """
    walk.push(_cached_function(real), _cached_function(wanted), place)
    walk.push(real.__dict__, wanted.__dict__, place)
    held = next((part for part in gc.get_referents(real) if type(part) is dict and part is not real.__dict__), {})
    keys = list(held)
    for key in keys[:MAX_REMEMBERED]:
        arguments = key if isinstance(key, tuple) else (key,)
        if all(isinstance(item, str | int | type(None)) for item in arguments):
            result = real(*arguments)
            if is_data(result):
                walk.push(result, wanted(*arguments), place / "()")
    if len(keys) > MAX_REMEMBERED:
        real.cache_clear()


def _cached_function(cached: Any) -> Any:
    """What the cache calls, not what its ``__wrapped__`` says that it calls."""
    return next((part for part in gc.get_referents(cached) if isinstance(part, FunctionType)), None)


def is_data(value: Any, depth: int = 3) -> bool:
    """Whether a value is a table: containers, frozen objects and scalars, as far as a few steps show."""
    if depth == 0 or value is None or isinstance(value, str | bytes | int | float | Enum | re.Pattern):
        return True
    if isinstance(value, Mapping):
        return all(is_data(item, depth - 1) for _, item in zip(range(3), value.values(), strict=False))
    if isinstance(value, list | tuple | set | frozenset):
        return all(is_data(item, depth - 1) for _, item in zip(range(3), value, strict=False))
    if hasattr(value, "__dataclass_fields__") or hasattr(value, "__pydantic_fields__"):
        return all(is_data(item, depth - 1) for item in attributes(value).values())
    return type(value).__module__ in ("decimal", "fractions", "datetime", "pathlib", "uuid", "zoneinfo")


def attributes(value: Any) -> dict[str, Any]:
    """The attributes of an instance by name: its ``__dict__``, and its slots."""
    return _attributes(value, _slots(type(value)))


def _attributes(value: Any, slots: tuple[str, ...]) -> dict[str, Any]:
    found = dict(getattr(value, "__dict__", _NONE))
    for name in slots:
        item = getattr(value, name, ABSENT)
        if item is not ABSENT:
            found[name] = item
    return found


_NONE: Mapping[str, Any] = {}


def _slots(kind: type) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        found |= dict.fromkeys((slots,) if isinstance(slots, str) else slots)
    return tuple(name for name in found if name not in ("__dict__", "__weakref__"))


@dataclass(frozen=True, slots=True)
class _Traits:
    """What decides how objects of a type are compared."""

    slots: tuple[str, ...]
    all_slots: Callable[[Any], Any] | None
    is_open: bool
    is_of_harness: bool
    knows_equality: bool


def _traits(walk: Comparison, kind: type) -> _Traits:
    known: _Traits | None = walk.traits.get(kind)
    if known is None:
        is_attested = kind.__module__ in walk.reference.sources
        equality = next((vars(base)["__eq__"] for base in kind.__mro__ if "__eq__" in vars(base)), None)
        slots = _slots(kind)
        has_slots_only = len(slots) > 1 and not kind.__dictoffset__
        known = walk.traits[kind] = _Traits(
            slots,
            attrgetter(*slots) if has_slots_only else None,
            is_attested or kind.__module__.partition(".")[0] in TRANSPARENT,
            is_attested and kind.__module__.startswith(HARNESS),
            equality is not vars(object)["__eq__"],
        )
    return known


def compare_instance(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Any other object.

    One of an attested class, a graph's part, anything that can be called: by its attributes. One that knows when it is
    equal: by that, else by its attributes. Of what is left (a lock, a connection, a logger) the type must do, and no
    attribute may stand before a method of it.
    """
    kind = type(wanted)
    if isinstance(wanted, type):
        compare_class(walk, real, wanted, place)
        return
    traits = _traits(walk, kind)
    if traits.is_of_harness:
        return
    if not traits.is_open and traits.knows_equality and _equal(real, wanted):
        return
    if traits.is_open and _compare_slots(walk, real, wanted, place, traits):
        return
    there, wanted_there = _attributes(real, traits.slots), _attributes(wanted, traits.slots)
    if traits.is_open or traits.knows_equality or callable(wanted):
        if there.keys() != wanted_there.keys():
            for name in there.keys() - wanted_there.keys():
                if isinstance(getattr(kind, name, None), functools.cached_property):
                    wanted_there[name] = getattr(wanted, name)
            if there.keys() != wanted_there.keys():
                walk.differs(place)
                return
        walk.push_items(there, wanted_there, there, place)
        return
    for name in there.keys() - wanted_there.keys():
        if callable(getattr(kind, name, None)):
            walk.differs(place / name, "a method is covered by an attribute")


def _compare_slots(walk: Comparison, real: Any, wanted: Any, place: Place, traits: _Traits) -> bool:
    """The quick way for an object that has slots only; False when one of them is not filled."""
    if traits.all_slots is None:
        return False
    try:
        items, wanted_items = traits.all_slots(real), traits.all_slots(wanted)
    except AttributeError:  # looked at one by one instead
        return False
    for name, item, wanted_item in zip(traits.slots, items, wanted_items, strict=True):
        if item is not wanted_item:
            walk.push(item, wanted_item, place / name)
    return True


def _equal(real: Any, wanted: Any) -> bool:
    try:
        return bool(real == wanted)
    except Exception:  # an equality that fails says nothing; the attributes are looked at next
        return False
