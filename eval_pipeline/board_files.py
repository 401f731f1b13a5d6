"""A board as a file: one HTML page without anything from elsewhere, and JUnit XML for what reads that."""

from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from eval_pipeline.board import Board
from eval_pipeline.errors import ConfigError
from eval_pipeline.verdict import Verdict


def write_html(board: Board, file: Path) -> None:
    """Writes a page with the board, what is red first. Everything that an agent said is escaped.

    Raises ConfigError for a file that cannot be written.
    """
    environment = Environment(
        loader=PackageLoader("eval_pipeline"), autoescape=select_autoescape(default=True), undefined=StrictUndefined
    )
    page = environment.get_template("board.html").render(board=board, verdicts=list(Verdict))
    _write(file, page.encode("utf-8", "backslashreplace"))


def write_junit(board: Board, file: Path) -> None:
    """Writes JUnit XML: a suite for each agent. FAIL and XPASS are failures, ERROR an error, SKIP and XFAIL skipped.

    Raises ConfigError for a file that cannot be written.
    """
    root = Element("testsuites", name=f"board {board.run_id}")
    for row in board.agents:
        mine = [item for item in board.examples if item.agent == row.agent]
        n_failed = row.verdicts[Verdict.FAIL] + row.verdicts[Verdict.XPASS]
        n_skipped = row.verdicts[Verdict.SKIP] + row.verdicts[Verdict.XFAIL]
        suite = SubElement(
            root,
            "testsuite",
            name=row.agent,
            tests=str(len(mine) + len(row.problems)),
            failures=str(n_failed),
            errors=str(row.verdicts[Verdict.ERROR] + len(row.problems)),
            skipped=str(n_skipped),
        )
        for problem in row.problems:
            SubElement(
                SubElement(suite, "testcase", classname=row.agent, name="board"), "error", message=clean(problem)
            )
        for item in mine:
            case = SubElement(suite, "testcase", classname=row.agent, name=item.id)
            kind = _KINDS.get(item.verdict)
            if kind:
                SubElement(case, kind, type=item.verdict.value, message=clean(f"{item.verdict}: {item.reason}"))
    indent(root)
    _write(file, tostring(root, "utf-8", xml_declaration=True))


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from None


_KINDS = {
    Verdict.FAIL: "failure",
    Verdict.XPASS: "failure",
    Verdict.ERROR: "error",
    Verdict.SKIP: "skipped",
    Verdict.XFAIL: "skipped",
}


def clean(text: str) -> str:
    """Text without the characters that XML 1.0 cannot hold."""
    return "".join(
        c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c >= "\U00010000" else "\ufffd"
        for c in text
    )
