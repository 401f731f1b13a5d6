"""The page of known failures of harnesses names, for each, tests that are there and say so themselves."""

import ast
import re

import pytest

from tests.cli.project import ROOT

PAGE = (ROOT / "docs" / "cases.md").read_text("utf-8")
ROWS = re.findall(r"^\| (H\d\d) \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE)


def test_the_page_has_rows() -> None:
    assert len(ROWS) > 20
    assert len({case for case, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("case", "tests"), ROWS, ids=[case for case, _ in ROWS])
def test_each_case_is_kept_by_a_test_that_names_it(case: str, tests: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", tests)
    assert named
    for file, name in named:
        functions = {
            node.name: ast.get_docstring(node) or ""
            for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8")))
            if isinstance(node, ast.FunctionDef)
        }
        assert name in functions, f"{file} has no {name}"
        assert case in functions[name], f"{file}::{name} does not name {case}"
