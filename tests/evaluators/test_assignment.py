"""The best assignment, against every assignment that there is."""

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.evaluators.typewriter.assignment import assign


@st.composite
def matrices(draw: st.DrawFn) -> list[list[float]]:
    n_columns = draw(st.integers(0, 5))
    row = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n_columns, max_size=n_columns)
    return draw(st.lists(row, max_size=5))


def best(weights: list[list[float]]) -> float:
    """The largest sum, by trying all."""
    rows, columns = len(weights), len(weights[0]) if weights else 0
    size = max(rows, columns)
    return max(
        sum(weights[row][column] for row, column in enumerate(order[:rows]) if column < columns)
        for order in permutations(range(size))
    )


@settings(deadline=None)
@given(matrices())
def test_no_assignment_is_better_and_no_column_is_taken_twice(weights: list[list[float]]) -> None:
    places = assign(weights)
    assert len(places) == len(weights)
    taken = [place for place in places if place is not None]
    assert len(set(taken)) == len(taken)
    assert len(taken) == min(len(weights), len(weights[0]) if weights else 0)
    if weights:
        assert sum(weights[row][place] for row, place in enumerate(places) if place is not None) == best(weights)


def test_the_greedy_choice_is_not_taken_where_it_costs_more_elsewhere() -> None:
    assert assign([[1.0, 0.75], [0.75, 0.0]]) == [1, 0]
