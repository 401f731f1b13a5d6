"""The parts of a JSON value by their paths: leaves, what lies where, and a value with one leaf changed."""

from collections.abc import Iterator
from typing import Any, Final

Path = tuple[str | int, ...]

ABSENT: Final = object()
"""In the place of a value: the key or the item is taken away."""


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every scalar, empty list and empty object in a JSON value, with its path."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def dotted(path: Path) -> str:
    """A path as text: ``lines.0.amount``."""
    return ".".join(map(str, path))


def has_path(value: object, path: str) -> bool:
    """Whether a JSON value has something at a dotted path."""
    for step in path.split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return True


def with_leaf(value: Any, path: Path, leaf: object) -> Any:
    """``value`` with the part at ``path`` replaced, or taken away when it is ABSENT. What is off the path is shared."""
    if not path:
        return leaf
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    changed = [(key, with_leaf(item, path[1:], leaf) if key == path[0] else item) for key, item in pairs]
    kept = [(key, item) for key, item in changed if item is not ABSENT]
    return dict(kept) if isinstance(value, dict) else [item for _, item in kept]
