"""The changes that liveness tries: never the value itself, always its absence, and only the one leaf."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.json_parts import ABSENT, dotted, has_path, leaves, with_leaf
from eval_pipeline.rules.alternatives import alternatives, of_outputs, sample_of
from eval_pipeline.values import same

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
KEYS = st.text("abc", min_size=1, max_size=3)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))


@given(SCALARS)
def test_a_leaf_has_other_values_of_its_type_and_may_be_absent(value: Any) -> None:
    tried = list(alternatives(value))
    assert tried[-1] is ABSENT
    assert not any(same(other, value) for other in tried)
    if value is not None:
        assert any(type(other) is type(value) for other in tried)


@given(JSON)
def test_every_leaf_is_where_its_path_says(value: Any) -> None:
    for path, leaf in leaves(value):
        found = value
        for step in path:
            found = found[step]
        assert same(found, leaf)
        assert not path or has_path(value, dotted(path))


@given(JSON)
def test_a_changed_leaf_changes_nothing_else(value: Any) -> None:
    before = dict(leaves(value))
    for path in before:
        after = dict(leaves(with_leaf(value, path, "changed")))
        assert after[path] == "changed"
        assert {p: v for p, v in after.items() if p != path} == {p: v for p, v in before.items() if p != path}


def test_an_absent_leaf_is_gone() -> None:
    assert with_leaf({"a": [1, 2, 3], "b": 4}, ("a", 1), ABSENT) == {"a": [1, 3], "b": 4}
    assert with_leaf({"a": [1, 2, 3], "b": 4}, ("b",), ABSENT) == {"a": [1, 2, 3]}


def test_decimal_strings_and_days_are_changed_to_others_of_their_kind() -> None:
    assert {"7351.00", "-7351.00", "0.00"} <= set(list(alternatives("300.00"))[:-1])
    assert {"0001-01-01", "9999-12-31"} <= set(list(alternatives("2026-03-04"))[:-1])


def test_values_of_the_outputs_are_tried_in_the_place_of_a_leaf_of_their_type() -> None:
    sample = sample_of({"lines": [{"account": "1110", "n": 3}], "text": "hotel", "again": "1110"})
    assert sample == ("1110", 3, "hotel")
    assert list(of_outputs("1110", sample)) == ["hotel"]
    assert list(of_outputs([], sample)) == [["1110", 3, "hotel"]]
