"""What agents print: kept in the trace of their attempt, bounded, and never on stdout."""

import subprocess
import sys
from typing import Any

import pytest

from eval_pipeline.attempt import run_attempt
from eval_pipeline.outcome import Outcome, Span
from eval_pipeline.printed import CUT, MAX_OTHER, nothing_on_stdout, stdout_to_stderr
from eval_pipeline.trace import MAX_TEXT
from eval_pipeline.workers import Limits, run_tasks
from tests.build import task


def attempt(function: Any) -> Outcome:
    """The outcome of an attempt while prints are kept."""

    def run_one(inputs: Any, attempt: Any) -> dict[str, Any]:
        function()
        return {}

    with nothing_on_stdout():
        return run_attempt(task(), run_one, 10_000)


def printed(outcome: Outcome) -> str:
    (span,) = outcome.spans
    assert isinstance(span, Span)
    assert (span.kind, span.name) == ("print", "stdout")
    return str(span.output["text"])


def test_what_an_attempt_prints_is_in_its_trace_and_not_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = attempt(lambda: print("ledger", 4, sep="-"))
    assert printed(outcome) == "ledger-4\n"
    assert capsys.readouterr() == ("", "")


def test_megabytes_are_cut_and_counted() -> None:
    """H40: megabytes on stdout, the run goes on, the output is bounded."""
    outcome = attempt(lambda: print("x" * 5_000_000, end=""))
    assert outcome.outputs == {}
    assert printed(outcome) == "x" * MAX_TEXT + "... (cut) of 5000000 characters"


def test_many_small_prints_are_cut_at_the_same_length() -> None:
    def prints() -> None:
        for _ in range(MAX_TEXT):
            print("ab", end="")

    assert printed(attempt(prints)) == "ab" * (MAX_TEXT // 2) + f"... (cut) of {2 * MAX_TEXT} characters"


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "é\n\t", "\x1b[31m"])
def test_any_text_may_be_printed(text: str) -> None:
    assert printed(attempt(lambda: print(text, end=""))) == text


def test_bytes_and_child_processes_may_write_too() -> None:
    def writes() -> None:
        sys.stdout.buffer.write(b"caf\xc3\xa9 \xff")
        sys.stdout.flush()
        subprocess.run([sys.executable, "-c", "print('from a child')"], stdout=sys.stdout, check=True)

    assert printed(attempt(writes)) == "café \ufffd"


@pytest.mark.parametrize("on_loop", [False, True])
def test_each_attempt_has_its_own_prints_however_many_run_at_once(on_loop: bool) -> None:
    def prints(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        for _ in range(50):
            print(inputs["n"], end=" ")
        return {}

    async def awaits(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        return prints(inputs, _)

    found: list[Outcome] = []
    with nothing_on_stdout():
        tasks = [task(f"example-{n}", inputs={"n": n}) for n in range(8)]
        run_tasks(tasks, awaits if on_loop else prints, Limits(4, 60, 1000), found.append, on_loop=on_loop)
    assert {outcome.example_id: printed(outcome) for outcome in found} == {
        f"example-{n}": f"{n} " * 50 for n in range(8)
    }


def test_what_is_printed_outside_of_an_attempt_goes_to_stderr_up_to_a_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """H40: a long scorer output."""
    with nothing_on_stdout():
        print("an evaluator says")
        print("y" * 3 * MAX_OTHER)
        print("and says more")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("an evaluator says\nyyy")
    assert err.endswith(f"y{CUT}")
    assert len(err) == MAX_OTHER + len(CUT)


def test_afterwards_prints_are_prints_again(capsys: pytest.CaptureFixture[str]) -> None:
    with nothing_on_stdout(), nothing_on_stdout():
        print("hidden")
    print("shown")
    assert capsys.readouterr().out == "shown\n"


def test_what_is_written_past_python_goes_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    with stdout_to_stderr():
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    subprocess.run([sys.executable, "-c", "print('afterwards')"], check=True)
    assert capfd.readouterr() == ("afterwards\n", "from a child\n")
