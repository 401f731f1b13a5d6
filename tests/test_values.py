"""JSON values are compared with their types, and have one text and one digest."""

import json
import math
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.values import MAX_DEPTH, NotJson, canonical_text, copy_json, digest, require_json, same

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(("left", "right"), list(permutations([0, False, 0.0, "0", None, "", [], {}], 2)))
def test_values_of_different_types_are_never_the_same(left: object, right: object) -> None:
    assert not same(left, right)
    assert not same([left], [right])
    assert not same({"k": left}, {"k": right})


def test_lists_of_different_lengths_and_objects_of_different_keys_are_not_the_same() -> None:
    assert not same([1], [1, 2])
    assert not same({"a": None}, {})
    assert not same({"a": 1}, {"b": 1})


def test_the_order_of_keys_plays_no_part_and_the_order_of_items_does() -> None:
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same([1, 2], [2, 1])


@given(json_values)
def test_a_value_is_the_same_as_its_copy_and_as_what_its_text_says(value: object) -> None:
    assert same(copy_json(value), value)
    assert same(json.loads(canonical_text(value)), value)


def test_a_copy_shares_nothing_that_can_be_changed() -> None:
    value = {"lines": [{"amount": "1.00"}]}
    copy_json(value)["lines"][0]["amount"] = "9.99"
    assert value == {"lines": [{"amount": "1.00"}]}


def test_the_canonical_text_has_sorted_keys_no_white_space_and_ascii_only() -> None:
    assert canonical_text({"b": [1, 1.5, None], "a": "é\0\ud800"}) == '{"a":"\\u00e9\\u0000\\ud800","b":[1,1.5,null]}'


def test_the_digest_is_the_sha256_of_the_canonical_text() -> None:
    # printf '{"a":1}' | sha256sum
    assert digest({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": [0, math.nan]}, "$.a[1]: nan is not a JSON number"),
        (math.inf, "$: inf is not a JSON number"),
        ({"a": {1: "x"}}, "$.a: key 1 is not a string"),
        ({"a": Decimal(1)}, "$.a: Decimal is not a JSON value"),
        ([{1, 2}], "$[0]: set is not a JSON value"),
        ({"a": b"x"}, "$.a: bytes is not a JSON value"),
    ],
)
def test_what_is_not_json_is_named_by_its_path(value: object, told: str) -> None:
    for check in (require_json, canonical_text):
        with pytest.raises(NotJson) as caught:
            check(value)
        assert str(caught.value) == told


def test_a_value_that_holds_itself_is_not_json() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(NotJson, match=f"nested more than {MAX_DEPTH} deep"):
        canonical_text(value)


def test_nesting_is_allowed_to_the_limit_and_not_beyond() -> None:
    value: object = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    require_json(value)
    with pytest.raises(NotJson):
        require_json([value])


def test_a_number_with_too_many_digits_is_not_json() -> None:
    with pytest.raises(NotJson):
        canonical_text(10**5000)
