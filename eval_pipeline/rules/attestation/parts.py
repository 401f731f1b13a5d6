"""How objects of each kind are compared: functions, classes, modules, containers, descriptors, instances."""

import builtins
import functools
import gc
import operator
import re
import types
import typing
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from enum import Enum
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

from eval_pipeline.rules.attestation.code import same_code
from eval_pipeline.rules.attestation.comparison import Comparison, Place

Compare = Callable[[Comparison, Any, Any, Place], None]

OF_IMPORT = frozenset(
    {"__builtins__", "__cached__", "__file__", "__loader__", "__path__", "__spec__", "__warningregistry__"}
)
"""Names that an import puts into a module's namespace."""

OF_CLASS = frozenset({"__dict__", "__weakref__", "_abc_impl", "__pydantic_parent_namespace__"})
"""Names in a class's namespace that hold no behaviour of their own."""

CACHES_OF_CLASS = frozenset({"__pydantic_setattr_handlers__"})
"""What pydantic keeps on a class as it is used."""

TRANSPARENT = ("langgraph", "langchain_core")
"""Distributions whose objects are compared by their attributes: graphs are made of them."""

HARNESS = "eval_pipeline."
"""Objects of the harness's own attested modules hold what a run is doing; their classes are compared, not they."""

_ABSENT: Any = object()


def compare_function(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Code, defaults, closure, attributes, annotations, and the namespaces in which names are looked up."""
    if real.__qualname__ == wanted.__qualname__:
        place = _own_place(walk, wanted, place)
    if not same_code(real.__code__, wanted.__code__):
        walk.differs(place)
        return
    walk.push(real.__defaults__, wanted.__defaults__, place)
    walk.push(real.__kwdefaults__, wanted.__kwdefaults__, place)
    if real.__dict__ or wanted.__dict__:
        walk.push(real.__dict__, wanted.__dict__, place)
    walk.push(real.__annotations__, wanted.__annotations__, place)
    walk.push(real.__doc__, wanted.__doc__, place)
    _compare_scope(walk, real, wanted, place)
    cells = real.__closure__ or ()
    wanted_cells = wanted.__closure__ or ()
    for name, cell, wanted_cell in zip(wanted.__code__.co_freevars, cells, wanted_cells, strict=True):
        walk.push(_content(cell), _content(wanted_cell), place / name)


def _own_place(walk: Comparison, item: Any, place: Place) -> Place:
    """Where an attested class or function is defined, whichever binding led to it."""
    is_named = item.__module__ in walk.reference.sources and "<" not in item.__qualname__
    return Place(item.__module__, item.__qualname__) if is_named else place


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # still empty
        return _ABSENT


def _compare_scope(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    scope, wanted_scope = real.__globals__, wanted.__globals__
    if scope is not wanted_scope:
        if walk.is_fresh_scope(wanted_scope):
            running = walk.running.get(wanted_scope["__name__"])
            if running is None or vars(running) is not scope:
                walk.differs(place, "its names are looked up elsewhere")
        else:
            walk.push(scope, wanted_scope, place)
    names, wanted_names = real.__builtins__, wanted.__builtins__
    if wanted_names is walk.reference.builtins:
        wanted_names = vars(builtins)
    if names is not wanted_names and names != wanted_names:
        walk.differs(place, "its built-in names are others")


def compare_class(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Names, bases and everything in its namespace. A class from outside of the attested modules is the same object."""
    if (real.__module__, real.__qualname__) != (wanted.__module__, wanted.__qualname__):
        walk.differs(place)
        return
    own = _own_place(walk, wanted, place)
    if len(real.__mro__) != len(wanted.__mro__):
        walk.differs(own, "it has other bases")
        return
    _complete_model(real, wanted)
    for base, wanted_base in zip(real.__bases__, wanted.__bases__, strict=True):
        walk.push(base, wanted_base, own)
    there, wanted_there = vars(real), vars(wanted)
    for name in there.keys() | wanted_there.keys():
        if name in OF_CLASS or name in CACHES_OF_CLASS:
            continue
        item, wanted_item = there.get(name, _ABSENT), wanted_there.get(name, _ABSENT)
        if item is wanted_item or (name == "__init__" and _is_settled_protocol_init(real, item, wanted_item)):
            continue
        if item is _ABSENT or wanted_item is _ABSENT:
            walk.differs(own / name, "it is gone" if item is _ABSENT else "no such name is defined there")
        else:
            walk.push(item, wanted_item, own / name)


def _complete_model(real: Any, wanted: Any) -> None:
    """A pydantic model whose annotations could not be resolved when it was made is completed when it is first used."""
    for model in (real, wanted):
        if vars(model).get("__pydantic_complete__") is False and hasattr(model, "model_rebuild"):
            model.model_rebuild(raise_errors=False)


def _is_settled_protocol_init(real: type, item: Any, wanted_item: Any) -> bool:
    """A class made from a Protocol gets its ``__init__`` from the next base when it is first instantiated."""
    if getattr(wanted_item, "__name__", "") != "_no_init_or_replace_init":
        return False
    return any(vars(base).get("__init__") is item for base in real.__mro__[1:])


def compare_module(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Attested modules are compared once, by name; here it is enough that this is the running one."""
    if walk.running.get(wanted.__name__) is not real:
        walk.differs(place)


def compare_dict(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Keys in their order, values."""
    if isinstance(wanted, MappingProxyType):
        real, wanted = dict(real), dict(wanted)
    keys, wanted_keys = list(real), list(wanted)
    if keys == wanted_keys:
        walk.push_items(real, wanted, keys, place)
        return
    if len(keys) != len(wanted_keys):
        walk.differs(place)
        return
    for key, wanted_key in zip(keys, wanted_keys, strict=True):
        walk.push(key, wanted_key, place)
        walk.push(real[key], wanted[wanted_key], place / wanted_key)


def compare_sequence(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """Item by item."""
    if len(real) != len(wanted):
        walk.differs(place)
        return
    for item, wanted_item in zip(real, wanted, strict=True):
        walk.push(item, wanted_item, place)


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

    A result that is data is compared with what the fresh function returns, which reads its files again.
    """
    walk.push(_cached_function(real), _cached_function(wanted), place)
    walk.push(real.__dict__, wanted.__dict__, place)
    held = next((part for part in gc.get_referents(real) if type(part) is dict and part is not real.__dict__), {})
    for key in list(held):
        arguments = key if isinstance(key, tuple) else (key,)
        if all(isinstance(item, str | int | type(None)) for item in arguments):
            result = real(*arguments)
            if is_data(result):
                walk.push(result, wanted(*arguments), place / "()")


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
    found = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            item = getattr(value, name, _ABSENT) if name not in ("__dict__", "__weakref__") else _ABSENT
            if item is not _ABSENT:
                found.setdefault(name, item)
    return found


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
    if kind.__module__.startswith(HARNESS) and kind.__module__ in walk.reference.sources:
        return
    is_open = kind.__module__ in walk.reference.sources or kind.__module__.partition(".")[0] in TRANSPARENT
    knows_equality = _method(kind, "__eq__") is not vars(object)["__eq__"]
    if not is_open and knows_equality and _equal(real, wanted):
        return
    there, wanted_there = attributes(real), attributes(wanted)
    if is_open or callable(wanted) or knows_equality:
        for name in there.keys() - wanted_there.keys():
            if isinstance(getattr(kind, name, None), functools.cached_property):
                wanted_there[name] = getattr(wanted, name)
        if there.keys() != wanted_there.keys():
            walk.differs(place)
        else:
            walk.push_items(there, wanted_there, there, place)
        return
    for name in there.keys() - wanted_there.keys():
        if callable(getattr(kind, name, None)):
            walk.differs(place / name, "a method is covered by an attribute")


def _method(kind: type, name: str) -> Any:
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _equal(real: Any, wanted: Any) -> bool:
    try:
        return bool(real == wanted)
    except Exception:  # an equality that fails says nothing; the attributes are looked at next
        return False


def by_parts(*names: str) -> Compare:
    """Compares these attributes."""

    def compare(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
        for name in names:
            walk.push(getattr(real, name, _ABSENT), getattr(wanted, name, _ABSENT), place)

    return compare


def _by_reduction(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """What an object would be made from again (pickle's protocol)."""
    walk.push(real.__reduce__(), wanted.__reduce__(), place)


def _of_schema(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """pydantic's compiled validators and serializers, by the schema that they were compiled from."""
    walk.push(real.__reduce__()[1][:2], wanted.__reduce__()[1][:2], place)


def _pass(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
    """The type says enough."""


def _kinds() -> dict[type, Compare]:
    kinds: dict[type, Compare] = {
        FunctionType: compare_function,
        type: compare_class,
        ModuleType: compare_module,
        dict: compare_dict,
        MappingProxyType: compare_dict,
        OrderedDict: compare_dict,
        defaultdict: compare_dict,
        list: compare_sequence,
        tuple: compare_sequence,
        deque: compare_sequence,
        set: compare_set,
        frozenset: compare_set,
        staticmethod: by_parts("__func__", "__dict__"),
        classmethod: by_parts("__func__", "__dict__"),
        property: by_parts("fget", "fset", "fdel", "__doc__"),
        functools.cached_property: by_parts("func", "attrname", "__doc__"),
        functools.partial: by_parts("func", "args", "keywords", "__dict__"),
        functools.partialmethod: by_parts("func", "args", "keywords"),
        functools._lru_cache_wrapper: compare_cached,
        types.MethodType: by_parts("__func__", "__self__"),
        types.BuiltinFunctionType: by_parts("__name__", "__self__"),
        types.MemberDescriptorType: by_parts("__name__", "__objclass__"),
        types.GetSetDescriptorType: by_parts("__name__", "__objclass__"),
        types.GenericAlias: by_parts("__origin__", "__args__"),
        types.UnionType: by_parts("__args__"),
        typing.ForwardRef: by_parts("__forward_arg__"),
        typing.TypeVar: by_parts("__name__", "__bound__", "__constraints__"),
        operator.attrgetter: _by_reduction,
        operator.itemgetter: _by_reduction,
        operator.methodcaller: _by_reduction,
        object: _pass,
    }
    from pydantic_core import SchemaSerializer, SchemaValidator

    return {**kinds, SchemaValidator: _of_schema, SchemaSerializer: _of_schema}


KINDS: Mapping[type, Compare] = MappingProxyType(_kinds())
