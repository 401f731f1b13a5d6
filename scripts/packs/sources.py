"""The public sources that a pack is built from, and how the documents of each are read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.packs import cfdi, en16931, fatturapa, gobl, truth
from scripts.packs.stated import CannotConvert, Stated


@dataclass(frozen=True, slots=True)
class Found:
    """What one document states, or why it cannot be converted. ``name`` is unique within its source."""

    name: str
    stated: Stated | CannotConvert


@dataclass(frozen=True, slots=True)
class Source:
    """A folder of documents of one kind: where its files are, and who reads one of them."""

    folder: str
    pattern: str
    read: Callable[[Path], Iterator[Stated]]
    has_truth: bool = False

    def documents(self, root: Path) -> Iterator[Found]:
        """The documents under ``root`` by name; a file that cannot be converted is one Found with the reason."""
        files = {file.stem: file for file in (root / self.folder).glob(self.pattern)}
        kept = dict(truth.entries(root / self.folder)) if self.has_truth else {}
        for name in sorted(files | kept):
            try:
                known = list(self.read(files[name])) if name in files else [truth.read_entry(kept[name])]
            except CannotConvert as reason:
                yield Found(name, reason)
                continue
            for number, stated in enumerate(known, 1):
                yield Found(name if len(known) == 1 else f"{name}-{number}", stated)


def _one(read: Callable[[Path], Stated]) -> Callable[[Path], Iterator[Stated]]:
    def read_one(file: Path) -> Iterator[Stated]:
        yield read(file)

    return read_one


SOURCES: Final = (
    Source("cfdi", "xml/*.xml", cfdi.read_documents),
    Source("en16931-examples", "xml/*.xml", _one(en16931.read_invoice), has_truth=True),
    Source("fatturapa", "xml/*.xml", fatturapa.read_invoices),
    Source("gobl", "json/*.json", _one(gobl.read_document)),
    Source("xrechnung-testsuite", "xml/*.xml", _one(en16931.read_invoice), has_truth=True),
    Source("zugferd-corpus", "xml/*.xml", _one(en16931.read_invoice), has_truth=True),
)
"""By name. A truth.json has the stated figures of documents whose files were too large to keep."""
