"""Running modules beside fresh ones: every binding, where the module came from, and the built-in names it sees."""

import builtins
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import BuiltinFunctionType, ModuleType

from eval_pipeline.rules.attestation.comparison import Comparison, Difference, Place
from eval_pipeline.rules.attestation.kinds import KINDS
from eval_pipeline.rules.attestation.objects import compare_instance
from eval_pipeline.rules.attestation.reference import Reference

OF_IMPORT = frozenset(
    {"__builtins__", "__cached__", "__file__", "__loader__", "__path__", "__spec__", "__warningregistry__"}
)
"""Names that an import puts into a module's namespace."""

_FUNCTIONS = """
    __build_class__ __import__ abs all any bin callable chr delattr dir divmod eval exec format getattr globals hasattr
    hash hex id isinstance issubclass iter len locals max min next oct ord pow print repr round setattr sorted sum vars
"""
_CLASSES = """
    bool bytes classmethod complex dict enumerate filter float frozenset int list map object property range reversed set
    slice staticmethod str super tuple type zip Exception ValueError KeyError TypeError
"""
BUILT_IN: Mapping[str, type] = {
    **dict.fromkeys(_FUNCTIONS.split(), BuiltinFunctionType),
    **dict.fromkeys(_CLASSES.split(), type),
}
"""Built-in names that reasoning may use, and what each is."""


def module_differences(reference: Reference, known: Collection[str] = ()) -> Sequence[Difference]:
    """All modules of the reference that the process has imported, compared; those that are ``known`` left out.

    Raises CannotExecute.
    """
    walk = comparison(reference)
    _compare_builtins(walk)
    names = [name for name in walk.running if name not in known]
    for name in names:
        _compare_bindings(walk, name)
    walk.run()
    for name in names:
        _compare_imported(walk, name)
    walk.run()
    return walk.differences


def comparison(reference: Reference) -> Comparison:
    """A comparison of the running modules with fresh ones, nothing compared yet. Raises CannotExecute."""
    running = {name: sys.modules[name] for name in reference.loaded}
    for name in running:
        reference.load(name)
    return Comparison(reference, running, KINDS, compare_instance)


def _compare_builtins(walk: Comparison) -> None:
    for name, kind in BUILT_IN.items():
        item = vars(builtins).get(name)
        names = (getattr(item, "__module__", None), getattr(item, "__name__", None))
        if not isinstance(item, kind) or names != ("builtins", name):
            walk.differs(Place("builtins", name))


def _compare_bindings(walk: Comparison, name: str) -> None:
    running, fresh = walk.running[name], walk.reference.modules[name]
    if type(running) is not ModuleType:
        walk.differs(Place(name), f"it is a {type(running).__qualname__}, not a module")
        return
    file = walk.reference.sources[name].file
    if not _is_same_file(getattr(running, "__file__", None), file):
        walk.differs(Place(name), f"it was loaded from {getattr(running, '__file__', None)}")
    there, wanted = vars(running), vars(fresh)
    if there.get("__builtins__") not in (builtins, vars(builtins)):
        walk.differs(Place(name, "__builtins__"))
    for binding in there.keys() | wanted.keys():
        if binding in OF_IMPORT:
            continue
        if binding in there and binding in wanted:
            if getattr(wanted[binding], "__module__", name) == name:  # where it is defined, so that it is told so
                walk.push(there[binding], wanted[binding], Place(name, binding))
        elif binding in wanted:
            walk.differs(Place(name, binding), "it is gone")
        elif there[binding] is not sys.modules.get(f"{name}.{binding}"):
            walk.differs(Place(name, binding), "no such name is defined there")


def _compare_imported(walk: Comparison, name: str) -> None:
    there, wanted = vars(walk.running[name]), vars(walk.reference.modules[name])
    for binding in there.keys() & wanted.keys():
        if binding not in OF_IMPORT:
            walk.push(there[binding], wanted[binding], Place(name, binding))


def _is_same_file(loaded: object, file: Path) -> bool:
    return isinstance(loaded, str) and (loaded == str(file) or Path(loaded).resolve() == file.resolve())
