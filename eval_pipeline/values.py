"""JSON values: what may stand in inputs, expected and outputs, compared and hashed in one way everywhere."""

import hashlib
import json
import math
from typing import Any

Json = None | bool | int | float | str | list[Any] | dict[str, Any]

MAX_DEPTH = 100
"""Lists and objects in one another, at most: what is deeper cannot be read back wherever the stack is deep already."""


class NotJson(ValueError):
    """A value that is not JSON. ``path`` says where, from the root ``$``."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path


def same(left: object, right: object) -> bool:
    """Equality of value *and* type: ``0``, ``False``, ``0.0`` and ``"0"`` are four different values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def copy_json(value: Any) -> Any:
    """A deep copy of a JSON value (several times faster than ``copy.deepcopy``, which keeps a memo)."""
    if type(value) in _LEAVES:
        return value
    if isinstance(value, dict):
        return {key: item if type(item) in _LEAVES else copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item if type(item) in _LEAVES else copy_json(item) for item in value]
    return value


_LEAVES = frozenset({str, int, float, bool, type(None)})
"""Types of which a value is its own copy. Asked first, since most of a JSON value is leaves."""


def canonical_text(value: Any) -> str:
    """The one JSON text of a value: keys sorted, no white space, ASCII only (NUL and lone surrogates as escapes).

    Raises NotJson for what JSON cannot say: NaN, infinities, other types, keys that are not strings; and for what is
    nested more than ``MAX_DEPTH`` deep, or in itself.
    """
    require_json(value)
    try:
        return _dumps(value)
    except ValueError as error:
        raise NotJson("$", str(error)) from error


_encoder = json.JSONEncoder(ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
_dumps = _encoder.encode


def text_of_json(value: Any) -> str:
    """``canonical_text`` of a value that was checked before, as all that comes out of a dataset file was."""
    return _dumps(value)


def digest(value: Any) -> str:
    """SHA-256 of the canonical text, as 64 lower-case hex digits."""
    return hashlib.sha256(canonical_text(value).encode("ascii")).hexdigest()


_ALWAYS_JSON = _LEAVES - {float}


def require_json(value: object, path: str = "$") -> None:
    """Raises NotJson with the path of the first part of ``value`` that is not JSON."""
    found = _not_json(value, 0)
    if found is not None:
        raise NotJson(path + found[0], found[1])


def _not_json(value: object, depth: int) -> tuple[str, str] | None:
    """Path and problem of the first part that is not JSON; the path is made only when there is a problem."""
    if value is None or isinstance(value, str | int):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else ("", f"{value} is not a JSON number")
    if not isinstance(value, dict | list | tuple):
        return "", f"{type(value).__name__} is not a JSON value"
    if depth >= MAX_DEPTH:
        return "", f"nested more than {MAX_DEPTH} deep"
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in pairs:
        if isinstance(value, dict) and not isinstance(key, str):
            return "", f"key {key!r} is not a string"
        if type(item) in _ALWAYS_JSON:
            continue
        found = _not_json(item, depth + 1)
        if found is not None:
            return (f".{key}" if isinstance(value, dict) else f"[{key}]") + found[0], found[1]
    return None
