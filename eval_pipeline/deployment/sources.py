"""Code links: from each asset in the UI to the files that say how it behaves."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import dagster as dg

from eval_pipeline.registry import AgentEntry
from eval_pipeline.settings import PROJECT, settings


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder, what it is called in the UI, and the text at whose first line it is opened."""

    label: str
    path: Path
    begins: str | None = None


def dataset_sources(entry: AgentEntry, datasets: Path) -> Iterator[Source]:
    """The folder of an agent's examples, and the rules that all datasets keep."""
    yield Source("examples", datasets / entry.name)
    yield Source("static rules", PROJECT / "eval_pipeline" / "rules" / "static.py")


def outcome_sources(entry: AgentEntry) -> Iterator[Source]:
    """An agent's graph and its target. What is not there is left out: its examples say so."""
    package, target = module_file(entry.package), module_file(entry.target)
    if package is not None:
        yield Source("graph", package.with_name("graph.py"), "def build_graph")
    if target is not None:
        yield Source("target", target, "TARGET")


def score_sources(entry: AgentEntry) -> Iterator[Source]:
    """An agent's evaluators, and how verdicts are made of scores."""
    evaluators = module_file(entry.evaluators)
    if evaluators is not None:
        yield Source("evaluators", evaluators)
    yield Source("verdicts", PROJECT / "eval_pipeline" / "verdict.py")


def own_source(label: str, name: str) -> Source:
    """A file of the harness, by its path in ``eval_pipeline``."""
    return Source(label, PROJECT / "eval_pipeline" / name)


def module_file(name: str) -> Path | None:
    """The file of a module, None when it is not installed. Only the packages that it lies in are imported."""
    try:
        found = find_spec(name)
    except ModuleNotFoundError:
        return None
    return Path(found.origin) if found is not None and found.origin is not None else None


def code_links(sources: Iterable[Source]) -> Mapping[str, dg.CodeReferencesMetadataValue]:
    """Metadata of an asset's definition: a link for each source that exists.

    To the files of this machine, or, where EVAL_SOURCE_URL says that the code can be read there, to that address.
    """
    found = [source for source in sources if source.path.exists()]
    with warnings.catch_warnings():
        # Else each command and each step says of each link that Dagster may yet change its code references.
        warnings.simplefilter("ignore", dg.BetaWarning)
        references = [_reference(source, settings().source_url) for source in found]
        return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=references)}


def _reference(source: Source, url: str | None) -> dg.LocalFileCodeReference | dg.UrlCodeReference:
    line = _line(source)
    if url is not None and source.path.is_relative_to(PROJECT):
        address = f"{url.rstrip('/')}/{source.path.relative_to(PROJECT).as_posix()}"
        return dg.UrlCodeReference(url=f"{address}#L{line}" if line else address, label=source.label)
    return dg.LocalFileCodeReference(file_path=str(source.path), line_number=line, label=source.label)


def _line(source: Source) -> int | None:
    """The number of the first line that begins with the source's text, 1 for a file without one, None for a folder."""
    if source.path.is_dir():
        return None
    lines = source.path.read_text("utf-8").splitlines() if source.begins else []
    return next((n for n, line in enumerate(lines, 1) if line.startswith(source.begins or "")), 1)
