"""The reference: modules executed afresh from their source text, beside the running ones and without touching them.

The fresh modules see one another under their usual names and everything else as it is in the process. Executing them is
what makes dataclasses, pydantic models, enums and decorated functions comparable: the running ones were made so too.
"""

import builtins
import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from types import ModuleType
from typing import Any

from eval_pipeline.errors import one_line
from eval_pipeline.rules.attestation.sources import Source, compiled


class CannotExecute(Exception):
    """A module that cannot be executed afresh from its source."""

    def __init__(self, source: Source, error: BaseException) -> None:
        super().__init__(f"{source.module} cannot be executed afresh from {source.file}: {one_line(error)}")


class Reference:
    """Fresh modules by name. ``builtins`` is the namespace of built-in names that their functions see.

    ``stand_ins`` are, by the id of what the fresh modules got in their place, the process's own objects.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources: Mapping[str, Source] = {source.module: source for source in sources}
        self.modules: dict[str, ModuleType] = {}
        self.importlib = ModuleType("importlib")
        self.importlib.__dict__.update(vars(importlib))
        self.importlib.__dict__["import_module"] = self._import_module
        self.builtins = {**vars(builtins), "__import__": self._import}
        self._import_one = self.importlib.__dict__["import_module"]
        self.stand_ins: Mapping[int, Any] = {
            id(self.importlib): importlib,
            id(self._import_one): importlib.import_module,
            id(self.builtins): vars(builtins),
        }

    @property
    def loaded(self) -> tuple[str, ...]:
        """Those of the modules that the process has imported, in the order in which it did."""
        return tuple(name for name in list(sys.modules) if name in self.sources)  # other threads may import meanwhile

    def load(self, name: str) -> ModuleType:
        """The fresh module, executed when it is first asked for. Raises CannotExecute."""
        if name in self.modules:
            return self.modules[name]
        parent, _, last = name.rpartition(".")
        if parent in self.sources:
            self.load(parent)
            if name in self.modules:
                return self.modules[name]
        source = self.sources[name]
        module = self._empty(source)
        self.modules[name] = module
        if parent in self.modules:
            setattr(self.modules[parent], last, module)
        try:
            exec(compiled(source), module.__dict__)  # noqa: S102  (the project's own source, as an import would)
        except CannotExecute:
            raise
        except BaseException as error:
            del self.modules[name]
            raise CannotExecute(source, error) from error
        return module

    def _empty(self, source: Source) -> ModuleType:
        module = ModuleType(source.module)
        module.__spec__ = ModuleSpec(source.module, None, origin=str(source.file), is_package=source.is_package)
        module.__file__ = str(source.file)
        module.__package__ = source.module if source.is_package else source.module.rpartition(".")[0]
        if source.is_package:
            module.__path__ = [str(source.file.parent)]
        module.__dict__["__builtins__"] = self.builtins
        return module

    def _import(
        self,
        name: str,
        scope: Mapping[str, Any] | None = None,
        local: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """``__import__`` for the fresh modules: of themselves the fresh ones, of all others the process's own."""
        package = (scope or {}).get("__package__")
        absolute = resolve_name("." * level + name, package) if level else name
        if absolute == "importlib" and fromlist:
            return self.importlib
        if absolute not in self.sources:
            return builtins.__import__(name, scope, local, fromlist or (), level)
        module = self.load(absolute)
        if not fromlist:
            return module if level else self.load(absolute.partition(".")[0])
        for item in fromlist:
            if not hasattr(module, item):
                self._import_part(f"{absolute}.{item}", module, item)
        return module

    def _import_part(self, name: str, package: ModuleType, attribute: str) -> None:
        """What ``from package import attribute`` does when the attribute is a module that is not imported yet."""
        if name in self.sources:
            self.load(name)
        elif hasattr(package, "__path__") and attribute != "*":
            setattr(package, attribute, importlib.import_module(name))

    def _import_module(self, name: str, package: str | None = None) -> ModuleType:
        absolute = resolve_name(name, package)
        return self.load(absolute) if absolute in self.sources else importlib.import_module(absolute)
