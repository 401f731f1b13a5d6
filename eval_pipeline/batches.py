"""Cutting what is sent into requests: services refuse bodies that are too large."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(
    items: Iterable[T], size_of: Callable[[T], int], most: int, longest: int | None = None
) -> Iterator[list[T]]:
    """The items in their order, in parts of about ``most`` in size (one item may have more), of ``longest`` items."""
    batch: list[T] = []
    size = 0
    for item in items:
        own = size_of(item)
        if batch and (len(batch) == longest or size + own > most):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += own
    if batch:
        yield batch
