"""What an agent says and what a user gives can be anything: no command breaks, and no terminal is steered by it."""

from xml.etree import ElementTree

import pytest

from eval_pipeline.dataset_format import SCHEMA_NAME
from tests.cli.project import Project

HOSTILE = "<script>\\x1b[2J\\x00\\ud800\\ufffe\\x9b]]>&\\u20ac" + "x" * 20_000
"""As it stands in source: markup, an escape sequence, NUL, half a character, a non-character, and a very long line."""


@pytest.fixture
def hostile(project: Project) -> Project:
    """The adder says it, as an output and through its evaluator as the reason of a FAIL."""
    project.edit("bookkeeping/agents/adder/graph.py", '"odd" if state["total"] % 2 else "even"', f'"{HOSTILE}"')
    wanted = 'exact(outputs.get("parity"), expected["parity"]))'
    project.edit("eval_pipeline/evaluators/adder.py", wanted, f'{wanted[:-1]}, "got " + outputs.get("parity"))')
    return project


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_every_command_shows_it_in_any_encoding(hostile: Project, encoding: str) -> None:
    ran = hostile.run("run", "--json", PYTHONIOENCODING=encoding)
    assert (ran.code, ran.verdict("two-and-two")["verdict"]) == (1, "FAIL")
    assert "<script>\x1b[2J\x00\ud800" in ran.verdict("two-and-two")["reason"]
    for command in (("board",), ("trace", "adder/two-and-two"), ("diff", "latest")):
        told = hostile.run(*command, PYTHONIOENCODING=encoding)
        assert (told.code, told.err) == (0, ""), command
        assert not {"\x1b", "\x00", "\x9b"} & set(told.out), command
    told = hostile.run("trace", "adder/two-and-two", "--json", PYTHONIOENCODING=encoding)
    assert "\N{EURO SIGN}" in str(told.json)


def test_it_is_escaped_in_a_page_and_in_junit(hostile: Project) -> None:
    hostile.run("run")
    page, junit = hostile.folder / "board.html", hostile.folder / "board.xml"
    assert hostile.run("board", "--html", str(page), "--junit", str(junit)).code == 0
    assert "<script>" not in page.read_text("utf-8")
    assert "&lt;script&gt;" in page.read_text("utf-8")
    failures = ElementTree.parse(junit).findall(".//failure")
    assert len(failures) == 3
    assert "<script>\ufffd[2J" in failures[0].attrib["message"]


@pytest.mark.parametrize("option", ["--html", "--junit"])
@pytest.mark.parametrize("file", ["nowhere/board", "."])
def test_a_file_that_cannot_be_written_is_told_in_a_line(project: Project, option: str, file: str) -> None:
    assert project.run("run").code == 0
    ended = project.run("board", option, file)
    assert ended.code == 2
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert "cannot be written" in ended.err


def test_a_datasets_folder_that_cannot_be_written_is_told_in_a_line(project: Project) -> None:
    (project.folder / "datasets" / SCHEMA_NAME).mkdir()
    ended = project.run("fmt")
    assert ended.code == 2
    assert f"{SCHEMA_NAME} cannot be written" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("name", ["EVAL_DATABASE_URL", "EVAL_LEDGER_URL"])
@pytest.mark.parametrize("url", ["mysql://keeper:hunter2@localhost/books", "keeper:hunter2@localhost"])
def test_an_address_of_something_else_is_told_in_a_line_without_its_password(
    project: Project, name: str, url: str
) -> None:
    for command in ("run", "gate", "doctor"):
        ended = project.run(command, **{name: url})
        assert ended.code == 2
        assert ended.err.startswith(f"error: {name}: not a Postgres URL")
        assert ended.err.count("\n") == 1
        assert "hunter2" not in ended.out + ended.err
