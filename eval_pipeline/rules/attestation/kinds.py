"""Which comparison is for which type."""

import functools
import operator
import types
import typing
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

from eval_pipeline.rules.attestation.comparison import ABSENT, Comparison, Place
from eval_pipeline.rules.attestation.definitions import compare_class, compare_function, compare_module
from eval_pipeline.rules.attestation.objects import compare_cached, compare_dict, compare_sequence, compare_set

Compare = Callable[[Comparison, Any, Any, Place], None]


def by_parts(*names: str) -> Compare:
    """Compares these attributes."""

    def compare(walk: Comparison, real: Any, wanted: Any, place: Place) -> None:
        for name in names:
            walk.push(getattr(real, name, ABSENT), getattr(wanted, name, ABSENT), place)

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
