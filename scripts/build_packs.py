"""Builds a pack for the Bookkeeper out of public e-invoices.

    python scripts/build_packs.py --source DIR --out DIR

DIR of ``--source`` holds one folder for each source (xrechnung-testsuite, zugferd-corpus, en16931-examples, gobl,
fatturapa, cfdi); those that are not there are passed over. ``--out`` becomes the pack: ``bookkeeper/<source>.json`` in
the dataset format. Grade it with ``eval-pipeline run bookkeeper --pack DIR``. The same documents give the same bytes.
What cannot be converted is listed with its reason and counted. Exit codes: 0, 1 nothing could be converted, 2 a wrong
call.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval_pipeline.dataset_format import formatted
from scripts.packs.booking import booked
from scripts.packs.sources import SOURCES, Source
from scripts.packs.stated import CannotConvert

AGENT = "bookkeeper"


def main(arguments: list[str] | None = None) -> int:
    """Builds the pack and says what became of each source. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="build_packs", description="Builds a pack out of public e-invoices.")
    parser.add_argument("--source", type=Path, required=True, help="folder with a folder for each source")
    parser.add_argument("--out", type=Path, required=True, help="the pack's folder")
    call = parser.parse_args(arguments)
    if not call.source.is_dir():
        parser.error(f"there is no folder {call.source}")
    present = [source for source in SOURCES if (call.source / source.folder).is_dir()]
    if not present:
        parser.error(f"{call.source} holds none of {', '.join(source.folder for source in SOURCES)}")
    total = sum(build(source, call.source, call.out) for source in present)
    sys.stdout.write(f"{total} examples in {call.out}\n")
    return 0 if total else 1


def build(source: Source, root: Path, out: Path) -> int:
    """Writes the examples of ``source`` to ``out`` and tells what was left out. Returns how many there are."""
    examples: list[dict[str, Any]] = []
    left_out: list[tuple[str, str]] = []
    for name, made in _converted(source, root):
        if isinstance(made, CannotConvert):
            left_out.append((name, str(made)))
        else:
            examples += made
    file = out / AGENT / f"{source.folder}.json"
    file.unlink(missing_ok=True)
    if examples:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"agent": AGENT, "examples": examples}, ensure_ascii=False), "utf-8")
        file.write_text(formatted(file, AGENT), "utf-8")
    sys.stdout.write(f"{source.folder}: {len(examples)} examples, {len(left_out)} documents left out\n")
    for reason, count in sorted(Counter(reason for _, reason in left_out).items()):
        sys.stdout.write(f"  {count} x {reason}\n")
        sys.stdout.writelines(f"      {name}\n" for name, told in left_out if told == reason)
    return len(examples)


def _converted(source: Source, root: Path) -> Iterator[tuple[str, list[dict[str, Any]] | CannotConvert]]:
    for found in source.documents(root):
        if isinstance(found.stated, CannotConvert):
            yield found.name, found.stated
            continue
        identity = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{source.folder}.{found.name}")
        try:
            sides = list(booked(found.stated))
        except CannotConvert as reason:
            yield found.name, reason
            continue
        yield (
            found.name,
            [
                {
                    "id": f"{identity}.{side.side}",
                    "inputs": side.inputs,
                    "expected": side.expected,
                    "tags": [source.folder, *side.tags],
                }
                for side in sides
            ],
        )


if __name__ == "__main__":
    raise SystemExit(main())
