"""Shards: which share of an agent's examples one step of a run brings to outcomes.

A run is cut by the order of the examples alone, so that every machine cuts it in the same way, a retried step has the
share that it had, and long examples that stand side by side are spread. Trials of one example stay together.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

Item = TypeVar("Item")

_KEY = re.compile(r"(\d+)_of_(\d+)")


@dataclass(frozen=True, slots=True)
class Shard:
    """Every ``of``-th example, beginning with the one at ``index`` (from 0)."""

    index: int = 0
    of: int = 1

    @property
    def key(self) -> str:
        """Its name in a run: letters, digits and underscores, counted from 1.

        >>> Shard(2, 8).key
        '3_of_8'
        """
        return f"{self.index + 1}_of_{self.of}"

    @classmethod
    def of_key(cls, key: str) -> Self:
        """The shard of a key. Raises ValueError for what is none."""
        found = _KEY.fullmatch(key)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"{key!r} is not the key of a shard")
        return cls(int(found[1]) - 1, int(found[2]))

    def share(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Its share of the items, in their order."""
        return tuple(items[self.index :: self.of])


WHOLE = Shard()
"""The only shard of a run that is not cut."""


def cut(n_shards: int, n_items: int) -> tuple[Shard, ...]:
    """So many shards, but none that would be empty; one at least."""
    of = max(1, min(n_shards, n_items))
    return tuple(Shard(index, of) for index in range(of))
