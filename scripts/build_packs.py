"""Builds a pack out of public documents: e-invoices for the Bookkeeper, papers of all kinds for the Typewriter.

    python scripts/build_packs.py --source DIR --out DIR

DIR of ``--source`` holds one folder for each source; those that are not there are passed over. ``--out`` becomes the
pack, in the dataset format: ``bookkeeper/<source>.json`` for e-invoices in XML or JSON (xrechnung-testsuite,
zugferd-corpus, en16931-examples, gobl, fatturapa, cfdi), and ``typewriter/<source>.json`` beside the texts for these,
for receipts (sroie, receipts-standardized), printed invoices (invoice2data-compare), more e-invoices (ubl-samples) and
bank files (mt940, camt, ofx). Grade it with ``eval-pipeline run --pack DIR``. The same documents give the same bytes.
What cannot be converted is listed with its reason and counted. Exit codes: 0, 1 nothing could be converted, 2 a wrong
call.
"""

import argparse
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval_pipeline.dataset_format import formatted
from scripts.packs.booking import booked
from scripts.packs.paper import example, kept
from scripts.packs.papers import PAPERS, PaperSource
from scripts.packs.sources import SOURCES, Source
from scripts.packs.stated import CannotConvert

AGENT, TYPEWRITER = "bookkeeper", "typewriter"


def main(arguments: list[str] | None = None) -> int:
    """Builds the pack and says what became of each source. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="build_packs", description="Builds a pack out of public documents.")
    parser.add_argument("--source", type=Path, required=True, help="folder with a folder for each source")
    parser.add_argument("--out", type=Path, required=True, help="the pack's folder")
    call = parser.parse_args(arguments)
    if not call.source.is_dir():
        parser.error(f"there is no folder {call.source}")
    booked_sources = [source for source in SOURCES if (call.source / source.folder).is_dir()]
    paper_sources = [source for source in PAPERS if (call.source / source.folder).is_dir()]
    if not booked_sources and not paper_sources:
        known = sorted({source.folder for source in (*SOURCES, *PAPERS)})
        parser.error(f"{call.source} holds none of {', '.join(known)}")
    total = sum(build(source, call.source, call.out) for source in booked_sources)
    total += sum(build_papers(source, call.source, call.out) for source in paper_sources)
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
    _write(out / AGENT / f"{source.folder}.json", AGENT, examples)
    sys.stdout.write(f"{source.folder}: {len(examples)} examples, {len(left_out)} documents left out\n")
    for reason, count in sorted(Counter(reason for _, reason in left_out).items()):
        sys.stdout.write(f"  {count} x {reason}\n")
        sys.stdout.writelines(f"      {name}\n" for name, told in left_out if told == reason)
    return len(examples)


def build_papers(source: PaperSource, root: Path, out: Path) -> int:
    """Writes the papers of ``source`` with their texts. Returns how many there are."""
    examples = []
    texts = out / TYPEWRITER / source.folder
    shutil.rmtree(texts, ignore_errors=True)
    n_published = n_kept = 0
    bare = []
    for paper in source.read(root / source.folder):
        if not all(dict(kept(paper.text, item)) for item in paper.documents):
            bare.append(paper.name)
            continue
        identity = _identity(source.folder, paper.name)
        file = texts / f"{identity}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(paper.text, "utf-8")
        examples.append(example(paper, identity, f"{source.folder}/{file.name}"))
        for item in paper.documents:
            n_published += sum(1 for value in item.fields.values() if value)
            n_kept += sum(1 for _ in kept(paper.text, item))
    _write(out / TYPEWRITER / f"{source.folder}.json", TYPEWRITER, examples)
    told = f"{n_kept} of {n_published} published values stand on the paper and can be read in one way only"
    sys.stdout.write(f"{source.folder}: {len(examples)} papers, {told}\n")
    if bare:
        sys.stdout.write(f"  {len(bare)} left out, none of whose published values stands on them: {', '.join(bare)}\n")
    return len(examples)


def _identity(folder: str, name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{folder}.{name}")


def _write(file: Path, agent: str, examples: list[dict[str, Any]]) -> None:
    file.unlink(missing_ok=True)
    if examples:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"agent": agent, "examples": examples}, ensure_ascii=False), "utf-8")
        file.write_text(formatted(file, agent), "utf-8")


def _converted(source: Source, root: Path) -> Iterator[tuple[str, list[dict[str, Any]] | CannotConvert]]:
    for found in source.documents(root):
        if isinstance(found.stated, CannotConvert):
            yield found.name, found.stated
            continue
        identity = _identity(source.folder, found.name)
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
