"""A fault in any check turns the board red: planted in its text, run through the graph, graded as always."""

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bookkeeping.agents.auditor import graph, rating, sql_checks, vat_numbers
from bookkeeping.agents.auditor.catalogue import Check, catalogue
from bookkeeping.agents.auditor.chain import anchors, judge, scan, transformations, verify
from eval_pipeline.dataset import Dataset, Example, load_dataset
from eval_pipeline.evaluator import grade, load_evaluators
from eval_pipeline.evaluators.auditor import NEAR_MISS
from eval_pipeline.registry import agent
from tests.auditor.conftest import ROOT, Audit
from tests.auditor.mutations import MUTATIONS

PACKAGE = Path(graph.__file__).parent
EVALUATORS = load_evaluators(agent("bookkeeping.agents.auditor"))
CASES = [(check, number) for check, faults in MUTATIONS.items() for number in range(len(faults))]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(ROOT / "datasets" / "auditor")


def examples_of(dataset: Dataset, check: str) -> Iterator[Example]:
    """The examples in which the check has something to find, or has to stay silent; small books before large ones."""
    about = [
        example
        for example in dataset.examples
        if NEAR_MISS + check in example.tags
        or any(finding["check"] == check for finding in example.expected.get("findings", ()))
    ]
    return iter(sorted(about, key=lambda example: example.inputs["parameters"].get("n", 0)))


def is_green(audit_inputs: Audit, dataset: Dataset, example: Example) -> bool:
    """Whether an example passes; an Auditor that raises makes it an ERROR."""
    try:
        outputs = audit_inputs(dataset.inputs(example))
    except Exception:
        return False
    grading = grade(EVALUATORS, outputs, example.expected)
    return not grading.problems and all(score.value == 1.0 for score in grading.scores)


def replaced(text: str, old: str, new: str) -> str:
    assert old in text, f"{old!r} is not in the text any more"
    return text.replace(old, new)


def with_statement(checks: tuple[Check, ...], name: str, old: str, new: str) -> tuple[Check, ...]:
    return tuple(
        dataclasses.replace(check, statement=replaced(check.statement, old, new)) if check.id == name else check
        for check in checks
    )


def mutated_module(module: ModuleType, old: str, new: str) -> ModuleType:
    """A copy of a module with another text."""
    text = replaced(Path(module.__file__).read_text("utf-8"), old, new)
    copy = ModuleType(module.__name__)
    copy.__file__ = module.__file__
    # dataclasses look their own module up by name while they are made.
    original = sys.modules[module.__name__]
    sys.modules[module.__name__] = copy
    try:
        exec(compile(text, module.__file__, "exec"), copy.__dict__)
    finally:
        sys.modules[module.__name__] = original
    return copy


def plant(patch: pytest.MonkeyPatch, check: str, fault: tuple[str, ...]) -> None:
    """Puts the faulty text in the place of the right one, wherever the graph uses it."""
    if len(fault) == 2:
        faulty = with_statement(catalogue(), check, *fault)
        patch.setattr(graph, "catalogue", lambda: faulty)
        return
    file, old, new = fault
    if file == "chain/entries.sql":
        patch.setattr(scan, "ENTRIES", replaced(scan.ENTRIES, old, new))
    elif file == "chain/scan.py":
        patch.setattr(verify, "scan", mutated_module(scan, old, new).scan)
    elif file == "chain/judge.py":
        patch.setattr(verify, "Judgement", mutated_module(judge, old, new).Judgement)
    elif file == "chain/anchors.py":
        patch.setattr(verify, "anchored", mutated_module(anchors, old, new))
    elif file == "chain/transformations.py":
        patch.setattr(judge, "explanations", mutated_module(transformations, old, new).explanations)
        patch.setattr(judge, "Hashed", transformations.Hashed)
    elif file == "rating.py":
        patch.setattr(graph, "rated", mutated_module(rating, old, new).rated)
    else:
        assert file == "vat_numbers.py"
        faulty_rows = mutated_module(vat_numbers, old, new).with_fault
        patch.setattr(sql_checks, "IN_PYTHON", {"vat_number_invalid": faulty_rows})


def test_every_check_has_a_mutation() -> None:
    assert set(MUTATIONS) == {check.id for check in catalogue()}
    assert all(MUTATIONS.values())


@pytest.mark.parametrize(("check", "number"), CASES, ids=[f"{check}-{number}" for check, number in CASES])
def test_a_fault_in_a_check_is_seen_by_an_example_of_it(
    audit_inputs: Audit, dataset: Dataset, check: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, check, MUTATIONS[check][number])
    assert not all(is_green(audit_inputs, dataset, example) for example in examples_of(dataset, check))


def test_without_a_fault_an_example_of_each_check_is_green(audit_inputs: Audit, dataset: Dataset) -> None:
    """Or the tests above would show nothing."""
    first: Mapping[str, Any] = {check.id: next(examples_of(dataset, check.id)) for check in catalogue()}
    red = [check for check, example in first.items() if not is_green(audit_inputs, dataset, example)]
    assert red == []
