"""docs/clerk.md says what the tables say, and its example is one."""

import json
import re
from pathlib import Path

from bookkeeping.agents.clerk import build_graph
from bookkeeping.agents.clerk.graph import ClerkContext
from bookkeeping.agents.clerk.inputs import Company, Message, Submission
from bookkeeping.agents.clerk.outputs import ClerkOutputs
from bookkeeping.agents.clerk.tables import SCOPES, DocumentClass, class_of, data, reasons
from bookkeeping.documents import catalogue
from eval_pipeline.doubles.clerk import MemoryQueue, MemorySink

PAGE = (Path(__file__).parents[2] / "docs" / "clerk.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def block(key: str) -> object:
    """The JSON block of the page that begins with this key."""
    (found,) = re.findall(rf'```json\n("{key}": .*?)\n```', PAGE, re.DOTALL)
    return json.loads(f"{{{found}}}")[key]


def test_the_table_of_governance_is_that_of_the_code_row_by_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (accept|hold|reject) \|", section("Governance"), re.MULTILINE)
    assert rows == [(item.code, item.decision) for item in reasons().values()]


def test_the_scopes_are_those_of_the_code() -> None:
    assert tuple(re.findall(r"^\| `(\w+)` \|", section("Scope"), re.MULTILINE)) == ("scope", *SCOPES)


def test_every_output_is_told() -> None:
    told = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", section("Outputs"), re.MULTILINE))))
    assert told == set(ClerkOutputs.__annotations__)


def test_every_key_of_the_inputs_is_told() -> None:
    keys = set(re.findall(r"`(\w+)`", section("Inputs")))
    for model in (Company, Submission, Message):
        assert set(model.model_fields) <= keys


def test_the_example_of_the_page_comes_out_as_the_page_says() -> None:
    given = {"company": block("company"), "submission": block("submission")}
    outputs = build_graph().invoke(given, context=ClerkContext(MemoryQueue(), MemorySink()))
    (expected,) = re.findall(r'"expected": (\{"decision".*?\}),\n', PAGE)
    wanted = json.loads(expected)
    assert {key: outputs[key] for key in wanted} == wanted


def test_the_message_of_the_page_is_one() -> None:
    assert Message.model_validate(block("message")).reply


def test_every_type_that_the_classes_name_is_in_the_catalogue() -> None:
    table = data("types")
    assert {*table["payable"], *table["expense"]} <= catalogue().types.keys()
    assert set(table["personal_families"]) <= set(catalogue().families)
    assert not set(table["payable"]) & set(table["expense"])
    assert {class_of(code) for code in catalogue().types} == set(DocumentClass)
    assert class_of("no such type") is None
