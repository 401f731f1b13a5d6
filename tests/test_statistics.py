"""The two statistics, against published and hand-computed values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.statistics import mcnemar, wilson


@pytest.mark.parametrize(
    ("passes", "total", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3 (Wilson, no continuity correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # By the formula with z^2 = 3.841459: (14 + z^2/2 -+ z sqrt(14 * 293 / 307 + z^2/4)) / (307 + z^2).
        (14, 307, 0.0274, 0.0751),
        # All of n: the lower bound is n / (n + z^2).
        (220, 220, 0.9828, 1.0),
        (1, 1, 0.2065, 1.0),
        (0, 1, 0.0, 0.7935),
    ],
)
def test_the_interval_is_that_of_wilson(passes: int, total: int, low: float, high: float) -> None:
    assert wilson(passes, total) == pytest.approx((low, high), abs=5e-5)


def test_the_interval_at_a_small_share_is_not_empty() -> None:
    """H30: 14 of 307."""
    low, high = wilson(14, 307)
    assert low < 14 / 307 < high


def test_of_nothing_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 5000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_interval_holds_the_share_is_never_empty_and_mirrors(counts: tuple[int, int]) -> None:
    passes, total = counts
    low, high = wilson(passes, total)
    assert 0 <= low <= passes / total <= high <= 1
    assert low < high
    assert wilson(total - passes, total) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("passes", "total"), [(-1, 5), (6, 5), (1, 0)])
def test_counts_that_cannot_be_are_refused(passes: int, total: int) -> None:
    with pytest.raises(ValueError, match=f"{passes} passes of {total}"):
        wilson(passes, total)


@pytest.mark.parametrize(
    ("only_before", "only_after", "p"),
    [
        (1, 8, 2 * (1 + 9) / 2**9),
        (2, 8, 2 * (1 + 10 + 45) / 2**10),
        (0, 5, 2 * 1 / 2**5),
        (5, 5, 1.0),
        (0, 0, 1.0),
        (1, 0, 1.0),
    ],
)
def test_the_paired_test_is_the_exact_one_of_mcnemar(only_before: int, only_after: int, p: float) -> None:
    """H31: the same examples in both runs are compared in pairs; by hand from the binomial distribution."""
    assert mcnemar(only_before, only_after) == pytest.approx(p)
    assert mcnemar(only_after, only_before) == pytest.approx(p)


@given(st.integers(0, 300), st.integers(0, 300))
def test_p_is_a_probability(only_before: int, only_after: int) -> None:
    assert 0 < mcnemar(only_before, only_after) <= 1
