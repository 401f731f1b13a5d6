"""How functions, classes and modules are compared."""

import builtins
from typing import Any

from eval_pipeline.rules.attestation.code import same_code
from eval_pipeline.rules.attestation.comparison import ABSENT, Comparison, Place

OF_CLASS = frozenset({"__dict__", "__weakref__", "_abc_impl", "__pydantic_parent_namespace__"})
"""Names in a class's namespace that hold no behaviour of their own."""

CACHES_OF_CLASS = frozenset({"__pydantic_setattr_handlers__"})
"""What pydantic keeps on a class as it is used."""


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
        return ABSENT


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
        item, wanted_item = there.get(name, ABSENT), wanted_there.get(name, ABSENT)
        if item is wanted_item or (name == "__init__" and _is_settled_protocol_init(real, item, wanted_item)):
            continue
        if item is ABSENT or wanted_item is ABSENT:
            walk.differs(own / name, "it is gone" if item is ABSENT else "no such name is defined there")
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
