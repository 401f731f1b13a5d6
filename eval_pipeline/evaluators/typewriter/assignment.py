"""The best assignment of columns to rows: which proposal is for which document, which row for which."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any


def assign(weights: Sequence[Sequence[float]]) -> list[int | None]:
    """For each row a column of its own, None when there are too few, so that the sum of the weights is the largest.

    The rows are equally long. Solved by scipy's ``linear_sum_assignment`` (Crouse 2016, the shortest augmenting path
    method of Jonker and Volgenant).
    """
    if not weights or not weights[0]:
        return [None] * len(weights)
    if len(weights) == len(weights[0]) == 1:
        return [0]
    optimize: Any = import_module("scipy.optimize")  # slow to import, and one document is the usual case
    places: list[int | None] = [None] * len(weights)
    for row, column in zip(*optimize.linear_sum_assignment(weights, maximize=True), strict=True):
        places[int(row)] = int(column)
    return places
