"""The one text form of a dataset file, and the JSON Schema that editors complete and check it by.

An object or list that fits on its line stays on one line; what does not fit is broken up, one item a line. So a diff
shows the change and nothing else. Keys of the model stand in the order of the model, an author's keys in the
author's order, and what equals its default is left out.
"""

import json
import re
from pathlib import Path
from typing import Any

from eval_pipeline.dataset import DatasetFile, Example, KnownDefect, parse_json, read_file

WIDTH = 110
SCHEMA_NAME = "dataset.schema.json"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""JSON can say half a character, as an escape; a UTF-8 file cannot hold one."""
_ALWAYS_BROKEN = 3
"""File, list of examples, example: broken up however short, so that each part of an example has a line of its own."""


def formatted(file: Path, agent: str) -> str:
    """The canonical text of a dataset file. Raises DatasetError when the file is not a dataset file."""
    read_file(file, agent)
    raw = parse_json(file)
    ordered = {"agent": raw["agent"], "examples": [_example(example) for example in raw["examples"]]}
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", _text(ordered, 0)) + "\n"


def schema_text() -> str:
    """The JSON Schema (draft 2020-12) of a dataset file, generated from the models, as text."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **DatasetFile.model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _example(raw: dict[str, Any]) -> dict[str, Any]:
    ordered = _in_model_order(raw, list(Example.model_fields))
    if "known_defects" in ordered:
        order = list(KnownDefect.model_fields)
        ordered["known_defects"] = [_in_model_order(marker, order) for marker in ordered["known_defects"]]
    return ordered


def _in_model_order(raw: dict[str, Any], order: list[str]) -> dict[str, Any]:
    kept = {key: raw[key] for key in order if key in raw}
    needless = {"tags": [], "known_defects": [], "intermittent": False, "dead_on_purpose": {}}
    return {
        key: value
        for key, value in kept.items()
        if value is not None and not (key in needless and value == needless[key])
    }


def _text(value: Any, depth: int, prefix: int = 0) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    indent = "  " * depth
    fits = len(indent) + prefix + len(flat) + 1 <= WIDTH
    if not isinstance(value, dict | list) or not value or (depth > _ALWAYS_BROKEN - 1 and fits):
        return flat
    inner = "  " * (depth + 1)
    if isinstance(value, list):
        items = [_text(item, depth + 1) for item in value]
        return "[\n" + ",\n".join(inner + item for item in items) + f"\n{indent}]"
    pairs = [f"{json.dumps(key, ensure_ascii=False)}: " for key in value]
    items = [_text(item, depth + 1, len(pair)) for pair, item in zip(pairs, value.values(), strict=True)]
    lines = [f"{inner}{pair}{item}" for pair, item in zip(pairs, items, strict=True)]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
