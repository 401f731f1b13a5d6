"""A dataset file has one text, and a schema that accepts what the models accept."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from eval_pipeline.dataset import load_dataset
from eval_pipeline.dataset_format import formatted, schema_text
from eval_pipeline.errors import DatasetError
from tests.build import AGENT, example_json, write_dataset
from tests.test_dataset import FULL, REFUSED_EXAMPLES, examples

SCHEMA = Draft202012Validator(json.loads(schema_text()))

CANONICAL = """\
{
  "agent": "sampler",
  "examples": [
    {
      "id": "sale-1",
      "inputs": {"company": "Larch Trading Ltd", "amount": "12.00"},
      "expected": {
        "answer": "four",
        "a_long_one": [
          "a line of text that is as long as lines of text may be here, or so",
          "and another one of them that does not fit beside it"
        ]
      },
      "tags": ["zwölf"],
      "known_defects": [{"keys": ["answer_correct"], "reason": "weak"}]
    },
    {
      "id": "sale-2",
      "inputs": {},
      "expected": {"answer": "five"}
    }
  ]
}
"""


def test_the_canonical_text_is_this_one(tmp_path: Path) -> None:
    raw = json.loads(CANONICAL)
    first, second = raw["examples"]
    scrambled = {key: first[key] for key in ("tags", "known_defects", "expected", "inputs", "id")}
    scrambled["known_defects"] = [
        {"reason": "weak", "intermittent": False, "only_when": None, "keys": ["answer_correct"]}
    ]
    file = tmp_path / "cases.json"
    more = {"tags": [], "known_defects": []}
    file.write_text(json.dumps({"examples": [scrambled, second | more], "agent": AGENT}, indent=1), "utf-8")
    assert formatted(file, AGENT) == CANONICAL


@given(raw=st.lists(examples, min_size=1, max_size=3, unique_by=lambda raw: raw["id"]))
def test_the_text_says_the_same_dataset_and_is_its_own_canonical_text(
    tmp_path_factory: pytest.TempPathFactory, raw: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("round") / AGENT
    file = write_dataset(folder, *raw)
    before = load_dataset(folder)
    text = formatted(file, AGENT)
    file.write_text(text, "utf-8")
    after = load_dataset(folder)
    assert after.examples == before.examples
    assert after.digest == before.digest
    assert formatted(file, AGENT) == text


def test_half_a_character_is_written_as_an_escape(tmp_path: Path) -> None:
    file = write_dataset(tmp_path, example_json(inputs={"document": "\ud83d alone"}))
    text = formatted(file, AGENT)
    file.write_text(text, "utf-8")
    assert load_dataset(tmp_path, AGENT).examples[0].inputs == {"document": "\ud83d alone"}
    assert formatted(file, AGENT) == text


def test_what_is_no_dataset_file_is_not_formatted(tmp_path: Path) -> None:
    file = write_dataset(tmp_path, example_json(typo=1))
    with pytest.raises(DatasetError, match="unknown key"):
        formatted(file, AGENT)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA.schema)


def test_the_schema_accepts_a_good_file() -> None:
    SCHEMA.validate({"agent": AGENT, "examples": [FULL, example_json()]})
    SCHEMA.validate(json.loads(CANONICAL))


@given(examples)
def test_the_schema_accepts_every_example_that_the_models_accept(raw: dict[str, Any]) -> None:
    SCHEMA.validate({"agent": AGENT, "examples": [raw]})


SCHEMA_CANNOT_SAY = {
    "amount as a float",
    "amount as a nested float",
    "float in the inputs",
    "negative ratio",
    "empty tag",
    "marker: no reason",
    "marker: key twice",
    "marker: empty only_when",
    "marker: intermittent alone",
    "marker: date with a time",
    "marker: no such day",
}
"""Rules between fields, and what a format means: the models alone check these."""


@pytest.mark.parametrize("name", sorted(REFUSED_EXAMPLES.keys() - SCHEMA_CANNOT_SAY))
def test_the_schema_refuses_a_bad_file(name: str) -> None:
    bad, _, _ = REFUSED_EXAMPLES[name]
    assert not SCHEMA.is_valid({"agent": AGENT, "examples": [bad]})


@pytest.mark.parametrize("bad", [{}, {"agent": AGENT, "examples": []}, {"agent": "No", "examples": [FULL]}, []])
def test_the_schema_refuses_a_bad_frame(bad: object) -> None:
    assert not SCHEMA.is_valid(bad)
