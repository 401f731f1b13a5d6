"""Packs: datasets outside the repo, in the same format, for documents that may not be committed.

A pack is a folder with a folder for each agent in it; its name is the folder's name. Its examples are graded and shown
apart, as ``AGENT@PACK``. Markers for them live in the repo, in ``datasets/packs/<pack>.json``, since a pack may be made
anew at any time:

    {"pack": "einvoices", "known_defects": {"bookkeeper": {"example-id": [{"keys": [...], "reason": "..."}]}}}
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from eval_pipeline.dataset import Dataset, Example, KnownDefect, load_dataset, parse_json
from eval_pipeline.errors import ConfigError, DatasetError
from eval_pipeline.registry import AGENTS
from eval_pipeline.suite import AgentSuite

OVERLAYS = "packs"
"""The folder beside the datasets in which the overlays lie."""


class Overlay(BaseModel):
    """A file of markers for a pack: by agent and example id."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pack: str
    known_defects: Mapping[str, Mapping[str, tuple[KnownDefect, ...]]]


def load_packs(suite: Sequence[AgentSuite], folders: Sequence[Path], datasets: Path) -> tuple[AgentSuite, ...]:
    """The packs' suites for those agents that have examples in them, with the target and evaluators of the agent.

    A folder that is not there gives a suite that SKIPs with that reason. Raises DatasetError for what cannot be read,
    for a pack without a folder of any registered agent, and for an overlay that names an example which the pack does
    not have; ConfigError when two packs have one name.
    """
    found: list[AgentSuite] = []
    twice = [name for name, n in Counter(folder.name for folder in folders).items() if n > 1]
    if twice:
        raise ConfigError(f"two packs are called {twice[0]!r}: {', '.join(map(str, folders))}")
    for folder in folders:
        name = folder.name
        known = {*(entry.name for entry in AGENTS), *(item.entry.name for item in suite)}
        if folder.is_dir() and not any((folder / agent).is_dir() for agent in known):
            raise DatasetError("the pack has no folder of a registered agent", file=folder)
        overlay = _overlay(datasets / OVERLAYS / f"{name}.json", name)
        for item in suite:
            if not folder.is_dir():
                reason = f"the pack {name} is not there: {folder}"
                found.append(AgentSuite(item.entry, _placeholder(item, folder), not_installed=reason, pack=name))
            elif (folder / item.entry.name).is_dir():
                dataset = load_dataset(folder / item.entry.name)
                markers = overlay.known_defects.get(item.entry.name, {}) if overlay else {}
                found.append(replace(item, dataset=_with_markers(dataset, markers, name), pack=name))
    return tuple(found)


def packs_of(selection: Mapping[str, Any]) -> tuple[Path, ...]:
    """The packs' folders of a stored selection."""
    return tuple(Path(folder) for folder in selection.get("packs", ()))


def _overlay(file: Path, pack: str) -> Overlay | None:
    if not file.exists():
        return None
    try:
        overlay = Overlay.model_validate(parse_json(file))
    except ValidationError as error:
        first = error.errors()[0]
        raise DatasetError(first["msg"], file=file, key=".".join(map(str, first["loc"]))) from None
    if overlay.pack != pack:
        raise DatasetError(f"the overlay is for pack {overlay.pack!r}", file=file, key="pack")
    return overlay


def _with_markers(dataset: Dataset, markers: Mapping[str, tuple[KnownDefect, ...]], pack: str) -> Dataset:
    unknown = sorted(markers.keys() - dataset.by_id.keys())
    if unknown:
        raise DatasetError(
            f"the overlay of pack {pack} names an example that is not there", file=dataset.folder, example=unknown[0]
        )
    examples = tuple(
        example.model_copy(update={"known_defects": (*example.known_defects, *markers.get(example.id, ()))})
        for example in dataset.examples
    )
    return Dataset(dataset.agent, dataset.folder, examples, dataset.sources, dataset.texts, dataset.builders)


def _placeholder(item: AgentSuite, folder: Path) -> Dataset:
    """Stands for the examples of a pack that is not there, so that the board has a line to say so on."""
    example = Example(id=folder.name or "pack", inputs={}, expected={})
    return Dataset(item.entry.name, folder, (example,), {example.id: folder})
