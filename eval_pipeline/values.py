"""JSON values: what may stand in inputs, expected and outputs, compared and hashed in one way everywhere."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

Json = None | bool | int | float | str | list[Any] | dict[str, Any]


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
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    return value


def canonical_text(value: Any) -> str:
    """The one JSON text of a value: keys sorted, no white space, ASCII only (NUL and lone surrogates as escapes).

    Raises NotJson for what JSON cannot say: NaN, infinities, other types, keys that are not strings.
    """
    try:
        return _dumps(value)
    except (TypeError, ValueError) as error:
        require_json(value)
        raise NotJson("$", str(error)) from error


_encoder = json.JSONEncoder(ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))
_dumps = _encoder.encode


def digest(value: Any) -> str:
    """SHA-256 of the canonical text, as 64 lower-case hex digits."""
    return hashlib.sha256(canonical_text(value).encode("ascii")).hexdigest()


def require_json(value: object, path: str = "$") -> None:
    """Raises NotJson with the path of the first part of ``value`` that is not JSON."""
    if value is None or isinstance(value, bool | int | str):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(path, f"{value} is not a JSON number")
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotJson(path, f"key {key!r} is not a string")
            require_json(item, f"{path}.{key}")
        return
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for index, item in enumerate(value):
            require_json(item, f"{path}[{index}]")
        return
    raise NotJson(path, f"{type(value).__name__} is not a JSON value")
