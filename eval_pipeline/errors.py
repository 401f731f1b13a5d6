"""The few typed errors of the harness. Each message names what, where and what to do."""

from pathlib import Path

OK = 0
NOT_GREEN = 1
NO_BOARD = 2
"""Exit codes: 0 not red; 1 red, refused or a broken rule; 2 no board could be written."""


class EvalPipelineError(Exception):
    """A user's mistake or a missing part: shown as one line, never as a traceback.

    ``exit_code`` is what the command line ends with.
    """

    exit_code = NO_BOARD


class ConfigError(EvalPipelineError):
    """A setting, a selection or a registration that cannot be used."""


class ResultsUnavailable(EvalPipelineError):
    """The results database does not answer, so no board can be written."""


class ResumeRefused(EvalPipelineError):
    """The run to resume did not run what would run now."""


class RunIsBusy(EvalPipelineError):
    """Another command writes in this run."""


class DatasetError(EvalPipelineError):
    """A dataset that cannot be read. Names the file and, where known, the example and the key."""

    def __init__(self, problem: str, *, file: Path, example: str | None = None, key: str | None = None) -> None:
        where = [str(file)]
        if example is not None:
            where.append(f"example {example!r}")
        if key is not None:
            where.append(f"key {key!r}")
        super().__init__(f"{': '.join(where)}: {problem}")
        self.problem = problem
        self.file = file
        self.example = example
        self.key = key


def one_line(error: BaseException) -> str:
    """The error's type and message on one line, without a traceback and without line ends. Never raises."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # an exception of somebody else's whose __str__ raises is still to be told
        text = "(its message cannot be shown)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
