"""A JSON schema of an answer as a grammar of llama.cpp (GBNF): all that a local model can then write is what fits.

Compact on purpose: no space between tokens (a small model spends half of its time on indentation), no line breaks in
strings, and every string and array ends at its bound.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_CHARACTER = r'[^"\\\x00-\x1F\x7F] | "\\" ["\\/]'


@dataclass(frozen=True, slots=True)
class Bounds:
    """Items of an array and characters of a string at most, where the schema does not say less."""

    items: int
    characters: int


def grammar(schema: Mapping[str, Any], bounds: Bounds) -> str:
    """The grammar of all texts that fit the schema within the bounds."""
    rules = {"char": _CHARACTER}
    root = _rule(schema, bounds, rules)
    return "\n".join([f"root ::= {root}", *(f"{name} ::= {body}" for name, body in rules.items())])


def _rule(schema: Mapping[str, Any], bounds: Bounds, rules: dict[str, str]) -> str:
    match schema["type"]:
        case "object":
            parts = [
                f"{_literal(json.dumps(name) + ':')} {_rule(part, bounds, rules)}"
                for name, part in schema["properties"].items()
            ]
            return f'"{{" {(_literal(",") + " ").join(f"{part} " for part in parts)}"}}"'
        case "array":
            most = min(bounds.items, schema.get("maxItems", bounds.items))
            item = _named(_rule(schema["items"], bounds, rules), rules)
            more = f' ("," {item}){{0,{most - 1}}}' if most > 1 else ""
            return f'"[" ({item}{more})? "]"' if most else '"[]"'
        case "string" if "enum" in schema:
            choices = " | ".join(_literal(json.dumps(choice)) for choice in schema["enum"])
            return f"({choices})"
        case "string":
            most = min(bounds.characters, schema.get("maxLength", bounds.characters))
            return f'"\\"" char{{0,{most}}} "\\""'
        case "integer":
            return "[0-9]{1,4}"
        case "boolean":
            return '("true" | "false")'
        case other:
            raise ValueError(f"no schema of an answer has the type {other!r}")


def _named(body: str, rules: dict[str, str]) -> str:
    name = f"item{len(rules)}"
    rules[name] = body
    return name


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
