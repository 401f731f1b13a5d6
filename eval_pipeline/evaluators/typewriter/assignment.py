"""The best assignment of columns to rows: which proposal is for which document, which row for which."""

from collections.abc import Sequence


def assign(weights: Sequence[Sequence[float]]) -> list[int | None]:
    """For each row a column of its own, None when there are too few, so that the sum of the weights is the largest.

    The Hungarian method by shortest augmenting paths, O(n^3); the first of equally good columns is taken.
    """
    n_columns = max((len(row) for row in weights), default=0)
    size = max(len(weights), n_columns)
    cost = [[-(row[j] if j < len(row) else 0.0) for j in range(size)] for row in weights]
    cost += [[0.0] * size for _ in range(size - len(weights))]
    row_of = _row_of_column(cost)
    columns: list[int | None] = [None] * len(weights)
    for column, row in enumerate(row_of):
        if row < len(weights) and column < n_columns:
            columns[row] = column
    return columns


def _row_of_column(cost: Sequence[Sequence[float]]) -> list[int]:
    """The assignment of least cost of a square matrix."""
    size = len(cost)
    of_row, of_column = [0.0] * (size + 1), [0.0] * (size + 1)
    row_of = [size] * (size + 1)  # the column at the end stands for the row that is being placed
    for row in range(size):
        row_of[size] = row
        column, before, least = size, [size] * (size + 1), [float("inf")] * (size + 1)
        done = [False] * (size + 1)
        while row_of[column] != size:
            done[column] = True
            current, step, following = row_of[column], float("inf"), size
            for j in range(size):
                if done[j]:
                    continue
                reduced = cost[current][j] - of_row[current] - of_column[j]
                if reduced < least[j]:
                    least[j], before[j] = reduced, column
                if least[j] < step:
                    step, following = least[j], j
            for j in range(size + 1):
                if done[j]:
                    of_row[row_of[j]] += step
                    of_column[j] -= step
                else:
                    least[j] -= step
            column = following
        while column != size:
            row_of[column] = row_of[before[column]]
            column = before[column]
    return row_of[:size]
