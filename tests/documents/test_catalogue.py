"""The catalogue: how many types there are, and that each can be asked for and answered."""

import json
from pathlib import Path

import jsonschema
import pytest

from bookkeeping.documents import Kind, catalogue

TYPES = list(catalogue().types.values())


def test_there_are_146_types_in_14_families():
    assert len(TYPES) == 146
    assert len(catalogue().families) == 14


def test_98_of_them_post():
    assert sum(item.posts for item in TYPES) == 98


def test_every_type_that_posts_has_a_posting_rule_and_no_other_type_has_one():
    import bookkeeping.agents.bookkeeper as bookkeeper

    folder = Path(bookkeeper.__file__).parent / "posting_rules"
    written = [json.loads(file.read_text("utf-8")) for file in folder.glob("*.json")]
    posting = {rule["doc_type"] for rules in written if isinstance(rules, list) for rule in rules}
    assert posting == {item.code for item in TYPES if item.posts}


@pytest.mark.parametrize("item", TYPES, ids=lambda item: item.code)
def test_a_type_can_be_told_by_its_number_its_date_and_who_made_it(item):
    names = {field.name for field in item.payload.fields}
    assert {"number", "date", "issuer", "recipient"} <= names
    assert len(names) == len(item.payload.fields)


@pytest.mark.parametrize("item", TYPES, ids=lambda item: item.code)
def test_an_empty_answer_fits_the_json_schema_of_its_type(item):
    schema = item.payload.json_schema(max_rows=3)
    jsonschema.Draft202012Validator.check_schema(schema)
    answer = {"fields": {field.name: "" for field in item.payload.fields}}
    if item.payload.row_fields:
        answer["rows"] = [{field.name: "" for field in item.payload.row_fields}]
    jsonschema.validate(answer, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**answer, "invented": ""}, schema)


@pytest.mark.parametrize("item", TYPES, ids=lambda item: item.code)
def test_the_small_question_is_a_part_of_the_whole_one(item):
    small = item.payload.only_core()
    whole = {field.name: field for field in item.payload.fields}
    assert {field.name: field.kind for field in small.fields}.items() <= {
        name: field.kind for name, field in whole.items()
    }.items()
    assert 3 <= len(small.fields) <= 4
    assert len(small.row_fields) <= 2
    for field in small.fields:
        assert field.json_schema["maxLength"] <= whole[field.name].json_schema["maxLength"]


def test_confusable_types_are_types():
    codes = set(catalogue().types)
    assert all(set(item.confusable_with) <= codes - {item.code} for item in TYPES)


def test_schemas_are_shared_and_not_copied():
    assert len({item.payload.name for item in TYPES}) == 27


def test_a_credit_note_is_a_credit_and_an_invoice_is_not():
    assert catalogue().types["supplier_credit_note"].is_credit
    assert not catalogue().types["supplier_invoice"].is_credit


def test_totals_are_amounts_and_currencies_are_currencies():
    kinds = catalogue().kinds
    assert kinds["total"] is Kind.AMOUNT
    assert kinds["currency"] is Kind.CURRENCY
    assert kinds["due_date"] is Kind.DATE
