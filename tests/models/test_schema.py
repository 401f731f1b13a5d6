"""Whether an answer fits its schema."""

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookkeeping.models.schema import mismatch, parse

ROW = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["a", "b"]},
        "rows": {"type": "array", "items": ROW},
        "is_last": {"type": "boolean"},
    },
    "required": ["kind", "rows", "is_last"],
    "additionalProperties": False,
}

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "rows", "is_last", "n"]), inner, max_size=4)
    ),
    max_leaves=8,
)


def test_an_answer_that_fits_has_no_mismatch():
    assert mismatch({"kind": "a", "rows": [{"n": 1}, {"n": 2}], "is_last": True}, SCHEMA) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], "answer is no object"),
        ({"kind": "c", "rows": [], "is_last": True}, "answer.kind is 'c', which is not allowed"),
        ({"kind": 1, "rows": [], "is_last": True}, "answer.kind is no string"),
        ({"kind": "a", "rows": {}, "is_last": True}, "answer.rows is no array"),
        ({"kind": "a", "rows": [{"n": 1}, {"n": "2"}], "is_last": True}, "answer.rows.1.n is no integer"),
        ({"kind": "a", "rows": [{"n": True}], "is_last": True}, "answer.rows.0.n is no integer"),
        ({"kind": "a", "rows": [], "is_last": 1}, "answer.is_last is no boolean"),
        ({"kind": "a", "rows": []}, "answer.is_last is missing"),
        ({"kind": "a", "rows": [], "is_last": True, "x": 1}, "answer.x is not in the schema"),
    ],
)
def test_the_first_place_that_does_not_fit_is_named(value, told):
    assert mismatch(value, SCHEMA) == told


@given(VALUES)
def test_it_says_what_jsonschema_says(value):
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid(value)
    assert (mismatch(value, SCHEMA) is None) == fits


def test_a_text_that_is_no_json_is_told():
    assert parse("{", SCHEMA)[1].startswith("not JSON")
    assert parse("[" * 100_000, SCHEMA)[1].startswith("not JSON")
