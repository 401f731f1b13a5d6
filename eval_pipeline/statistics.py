"""The two statistics of a board: an interval for a share, and a paired comparison of two runs."""

from math import comb, sqrt

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


def wilson(passes: int, total: int) -> tuple[float, float]:
    """The 95 % interval of Wilson (1927) for a share. With ``total`` 0 nothing is known: (0, 1).

    Never empty at 0 or at all passes, where the interval of Wald is. Raises ValueError for counts that cannot be.

    >>> tuple(round(bound, 3) for bound in wilson(220, 220))
    (0.983, 1.0)
    """
    if not 0 <= passes <= total:
        raise ValueError(f"{passes} passes of {total}")
    if total == 0:
        return 0.0, 1.0
    share = passes / total
    scale = 1 + Z95**2 / total
    middle = (share + Z95**2 / (2 * total)) / scale
    half = Z95 / scale * sqrt(share * (1 - share) / total + Z95**2 / (4 * total**2))
    low = 0.0 if passes == 0 else max(0.0, middle - half)
    high = 1.0 if passes == total else min(1.0, middle + half)
    return low, high


def mcnemar(only_before: int, only_after: int) -> float:
    """The two-sided p-value of the exact McNemar test (1947): pairs that passed in one of two runs only.

    Under the null hypothesis each such pair is a fair coin; with no such pair p is 1.

    >>> mcnemar(1, 8)
    0.0390625
    """
    pairs = only_before + only_after
    if pairs == 0:
        return 1.0
    tail = sum(comb(pairs, k) for k in range(min(only_before, only_after) + 1))
    return float(min(1.0, 2 * tail / 2**pairs))
