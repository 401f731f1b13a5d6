"""The kind of JSON schema that answers are described in, and whether an answer fits.

Objects with all properties required and no others, arrays, strings (also of an enum), integers, booleans. Lengths
(``maxLength``, ``maxItems``) and ranges are told to a model and not checked here: providers do not enforce them, and
an answer that is longer than expected is for the agent to judge.
"""

import json
from collections.abc import Mapping
from typing import Any


def object_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with these properties, all of them required and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse(text: str, schema: Mapping[str, Any]) -> tuple[Any, str | None]:
    """The value that ``text`` is, and what is wrong with it: None when it is JSON that fits the schema."""
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        return None, f"not JSON: {error}"
    return value, mismatch(value, schema)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which nothing is said twice. Raises ValueError: which of the two is meant nobody can tell."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def mismatch(value: Any, schema: Mapping[str, Any], path: str = "answer") -> str | None:
    """The first place where a value does not fit, None when it does."""
    match schema["type"]:
        case "object":
            return _object(value, schema, path)
        case "array":
            if not isinstance(value, list):
                return f"{path} is no array"
            found = (mismatch(item, schema["items"], f"{path}.{number}") for number, item in enumerate(value))
            return next((told for told in found if told), None)
        case "string":
            allowed = schema.get("enum")
            if not isinstance(value, str):
                return f"{path} is no string"
            return (
                f"{path} is {value!r}, which is not allowed" if allowed is not None and value not in allowed else None
            )
        case "integer":
            return None if isinstance(value, int) and not isinstance(value, bool) else f"{path} is no integer"
        case "boolean":
            return None if isinstance(value, bool) else f"{path} is no boolean"
        case other:
            raise ValueError(f"no schema of an answer has the type {other!r}")


def _object(value: Any, schema: Mapping[str, Any], path: str) -> str | None:
    if not isinstance(value, dict):
        return f"{path} is no object"
    properties = schema["properties"]
    for name in value:
        if name not in properties:
            return f"{path}.{name} is not in the schema"
    for name, part in properties.items():
        if name not in value:
            return f"{path}.{name} is missing"
        told = mismatch(value[name], part, f"{path}.{name}")
        if told:
            return told
    return None
