"""What an agent says can be anything: it neither breaks a command nor steers the terminal that it is shown on."""

from xml.etree import ElementTree

import pytest

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


def test_every_command_shows_it_in_any_encoding(hostile: Project) -> None:
    ran = hostile.run("run", "--json")
    assert (ran.code, ran.verdict("two-and-two")["verdict"]) == (1, "FAIL")
    assert "<script>\x1b[2J\x00\ud800" in ran.verdict("two-and-two")["reason"]
    for encoding in ("utf-8", "ascii"):
        for command in (("board",), ("trace", "adder/two-and-two"), ("diff", "latest")):
            told = hostile.run(*command, PYTHONIOENCODING=encoding)
            assert (told.code, told.err) == (0, ""), command
            assert not {"\x1b", "\x00", "\x9b"} & set(told.out), command
        for command in (("board", "--json"), ("trace", "adder/two-and-two", "--json")):
            told = hostile.run(*command, PYTHONIOENCODING=encoding)
            assert "\N{EURO SIGN}" in str(told.json), command


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
