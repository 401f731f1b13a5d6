"""The source files of modules as they are on disk, and what they compile to. Compiled files are never trusted.

Files are found by the path finder of the standard library alone: neither ``sys.modules`` nor an import hook is asked
where a module is.
"""

import marshal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType

PYC_HEADER = 16
"""Bytes before the code in a compiled file: magic number, flags, modification time and size of its source."""

State = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Source:
    """The source file of one module. ``is_package`` for an ``__init__.py``."""

    module: str
    file: Path
    is_package: bool

    @property
    def state(self) -> State:
        """Changes when the file does: modification and change time, size, inode."""
        return state_of(self.file)


def state_of(file: Path) -> State:
    """The state of a file; zeros for one that is not there."""
    try:
        found = file.stat()
    except OSError:
        return (0, 0, 0, 0)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


@dataclass(frozen=True, slots=True)
class Files:
    """The source files of some packages, and the states of all their files, data included."""

    sources: tuple[Source, ...]
    states: tuple[tuple[str, State], ...]


def find_files(names: Iterable[str]) -> Files:
    """The files of these modules and packages, of everything in them and of the packages that they lie in.

    A name that is not there has none. What an installation finds by other means than the path (an editable install with
    a finder of its own) is not found.
    """
    sources: dict[str, Source] = {}
    states: dict[str, State] = {}
    for name in dict.fromkeys(names):
        for file, source in _files(name):
            states[str(file)] = state_of(file)
            if source is not None:
                sources[source.module] = source
    return Files(tuple(sources.values()), tuple(states.items()))


def _files(name: str) -> Iterator[tuple[Path, Source | None]]:
    top, *inner = name.split(".")
    spec = PathFinder.find_spec(top)
    if spec is None:
        return
    if spec.submodule_search_locations is None:
        if not inner and spec.origin is not None:
            yield Path(spec.origin), Source(top, Path(spec.origin), is_package=False)
        return
    for location in spec.submodule_search_locations:
        yield from _below(top, Path(location), inner)


def _below(package: str, folder: Path, inner: list[str]) -> Iterator[tuple[Path, Source | None]]:
    """The files on the way down from a package's folder, then everything at its end."""
    if not inner:
        yield from _within(package, folder)
        return
    if (folder / "__init__.py").exists():
        yield folder / "__init__.py", Source(package, folder / "__init__.py", is_package=True)
    name = f"{package}.{inner[0]}"
    if (folder / inner[0]).is_dir():
        yield from _below(name, folder / inner[0], inner[1:])
    elif len(inner) == 1 and (folder / f"{inner[0]}.py").exists():
        file = folder / f"{inner[0]}.py"
        yield file, Source(name, file, is_package=False)


def _within(package: str, folder: Path) -> Iterator[tuple[Path, Source | None]]:
    for file in sorted(folder.rglob("*")):
        if file.name == "__pycache__" or file.parent.name == "__pycache__":
            continue
        yield file, _source(package, folder, file) if file.suffix == ".py" else None


def _source(package: str, folder: Path, file: Path) -> Source:
    steps = file.relative_to(folder).with_suffix("").parts
    is_package = steps[-1] == "__init__"
    return Source(".".join((package, *(steps[:-1] if is_package else steps))), file, is_package)


def compiled(source: Source) -> CodeType:
    """What the text of the file compiles to, whatever compiled file lies beside it."""
    return _compiled(source.file, source.state)


@lru_cache(maxsize=4096)
def _compiled(file: Path, _: State) -> CodeType:
    code: CodeType = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    return code


def stale_bytecode(source: Source) -> Path | None:
    """The compiled file that an import would take for this source and that holds something else; None when all is well.

    An import takes it when its header has the source's time and size (or says that nobody is to check).
    """
    file = Path(cache_from_source(str(source.file)))
    return file if not _is_faithful(source, file, source.state, state_of(file)) else None


@lru_cache(maxsize=4096)
def _is_faithful(source: Source, file: Path, _: State, of_compiled: State) -> bool:
    if of_compiled == (0, 0, 0, 0):
        return True
    data = file.read_bytes()
    flags, seconds, size = (int.from_bytes(data[at : at + 4], "little") for at in (4, 8, 12))
    status = source.file.stat()
    if flags == 0 and (seconds, size) != (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF):
        return True
    try:
        return bool(marshal.loads(data[PYC_HEADER:]) == compiled(source))  # noqa: S302  (compared, never run)
    except (ValueError, EOFError, TypeError):
        return True
