"""The command line. Each command reads its arguments here; what it does is in ``commands``, imported when used."""

import os
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Decides whether a set of agents may be released: every target runs the agent's real graph.",
)

Json = Annotated[bool, typer.Option("--json", help="print one JSON value")]
Strict = Annotated[bool, typer.Option("--strict", help="a skip is fatal")]
Run = Annotated[str, typer.Argument(help="a run id, or latest")]


PLAIN_WIDTH = 160
"""Columns where there is no terminal to ask, so that a table in a log is not cut."""


def _out() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def _err() -> Console:
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PLAIN_WIDTH)


@app.command()
def check(as_json: Json = False) -> None:
    """Every static rule: no model, no database."""
    from eval_pipeline.commands.check import check as command

    raise typer.Exit(command(_out(), as_json=as_json))


@app.command()
def run(
    select: Annotated[
        list[str] | None, typer.Argument(help="AGENT or AGENT/EXAMPLE-GLOB; everything when left out")
    ] = None,
    model: Annotated[str | None, typer.Option(help="the model of model-bound agents")] = None,
    trials: Annotated[int | None, typer.Option(help="how often each example is run; once when left out")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="only examples with one of these tags")] = None,
    last: Annotated[str | None, typer.Option(help="only those that were red, fail, error, xpass or skip")] = None,
    limit: Annotated[int | None, typer.Option(help="at most so many examples of each agent")] = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="continue a run: only what is missing")] = None,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="with --resume: what ended in ERROR again")
    ] = False,
    pack: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="also a pack: a dataset folder outside the repo")
    ] = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Runs the agents' real graphs, scores what they did, and shows the board."""
    from eval_pipeline.commands.run import run as command
    from eval_pipeline.pipeline import Request
    from eval_pipeline.prerequisites import model_name
    from eval_pipeline.selection import Selection
    from eval_pipeline.settings import settings

    selection = Selection(tuple(select or ()), tuple(tag or ()), last, limit)
    packs = tuple(folder.absolute() for folder in pack or ()) or (() if resume else settings().pack_folders)
    chosen = model_name(model or settings().model) if model or not resume else None
    request = Request(selection, chosen, trials, resume, retry_errors, packs)
    raise typer.Exit(command(request, _out(), _err(), strict=strict, as_json=as_json))


@app.command()
def score(run_id: Run = "latest", strict: Strict = False, as_json: Json = False) -> None:
    """Scores stored outcomes again with the evaluators of now. No model is called."""
    from eval_pipeline.commands.show import score as command

    raise typer.Exit(command(run_id, _out(), strict=strict, as_json=as_json))


@app.command()
def board(
    run_id: Run = "latest",
    as_json: Json = False,
    html: Annotated[Path | None, typer.Option(help="write a page")] = None,
    junit: Annotated[Path | None, typer.Option(help="write JUnit XML")] = None,
    by_tag: Annotated[bool, typer.Option("--by-tag", help="cut by the tags of the examples")] = False,
) -> None:
    """Shows the board of a run."""
    from eval_pipeline.commands.show import show_board as command

    raise typer.Exit(command(run_id, _out(), as_json=as_json, html=html, junit=junit, by_tag=by_tag))


@app.command()
def gate(run_id: Run = "latest", strict: Strict = False, as_json: Json = False) -> None:
    """The release decision: 0 only for a board that is GREEN, whole and current."""
    from eval_pipeline.commands.show import gate as command

    raise typer.Exit(command(run_id, _out(), strict=strict, as_json=as_json))


@app.command()
def prove(run_id: Run = "latest", as_json: Json = False) -> None:
    """Proves by a run's stored outcomes that every expectation is live and every score can fail. No model is called."""
    from eval_pipeline.commands.prove import prove as command

    raise typer.Exit(command(run_id, _out(), as_json=as_json))


@app.command()
def diff(
    before: Annotated[str, typer.Argument(help="a run id")],
    after: Annotated[str, typer.Argument(help="a run id, or latest")] = "latest",
    anyway: Annotated[bool, typer.Option("--anyway", help="compare what did not grade the same thing")] = False,
    as_json: Json = False,
) -> None:
    """What changed between two runs; 1 when something is newly red."""
    from eval_pipeline.commands.diff import diff as command

    raise typer.Exit(command(before, after, _out(), anyway=anyway, as_json=as_json))


@app.command()
def trace(
    example: Annotated[str, typer.Argument(metavar="AGENT/EXAMPLE")],
    run_id: Annotated[str, typer.Option("--run", metavar="RUN", help="a run id, or latest")] = "latest",
    as_json: Json = False,
) -> None:
    """What the agent did on one example: its nodes, outputs, scores and verdict."""
    from eval_pipeline.commands.trace import trace as command

    raise typer.Exit(command(example, run_id, _out(), as_json=as_json))


@app.command()
def defects(as_json: Json = False) -> None:
    """Every recorded defect: why, whose, until when, and whether it is still seen."""
    from eval_pipeline.commands.defects import defects as command

    raise typer.Exit(command(_out(), as_json=as_json))


@app.command()
def sync(
    agents: Annotated[list[str] | None, typer.Argument(metavar="[AGENT]...", help="all when left out")] = None,
    is_check: Annotated[bool, typer.Option("--check", help="change nothing; 1 when a copy differs")] = False,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Makes the copies of the datasets at LangSmith equal to the repo."""
    from eval_pipeline.commands.sync import sync as command

    raise typer.Exit(command(agents or (), _out(), is_check=is_check, strict=strict, as_json=as_json))


@app.command()
def publish(run_id: Run = "latest", strict: Strict = False, as_json: Json = False) -> None:
    """Publishes a run as experiments at LangSmith; publishing again updates them."""
    from eval_pipeline.commands.publish import publish as command

    raise typer.Exit(command(run_id, _out(), strict=strict, as_json=as_json))


@app.command()
def judge(
    model: Annotated[str | None, typer.Option(help="the model that judges; that of EVAL_JUDGE_MODEL")] = None,
    as_json: Json = False,
) -> None:
    """How far the judge agrees with people, by Cohen's kappa over the calibration set."""
    from eval_pipeline.commands.judge import judge as command

    raise typer.Exit(command(model, _out(), as_json=as_json))


@app.command()
def fmt(check: Annotated[bool, typer.Option("--check", help="change nothing; 1 when a file would")] = False) -> None:
    """Writes the datasets' canonical format and their JSON Schema."""
    from eval_pipeline.commands.fmt import fmt as command

    raise typer.Exit(command(_out(), check=check))


@app.command()
def prune(
    is_dry: Annotated[bool, typer.Option("--dry-run", help="delete nothing; say what would be")] = False,
    as_json: Json = False,
) -> None:
    """Deletes old runs and outcomes: what EVAL_KEEP_RUNS_DAYS and EVAL_KEEP_OUTCOMES_DAYS no longer keep."""
    from eval_pipeline.commands.prune import prune as command

    raise typer.Exit(command(_out(), is_dry=is_dry, as_json=as_json))


@app.command("init-ledger")
def init_ledger() -> None:
    """Prepares the empty database of EVAL_LEDGER_URL for evals; refuses one that holds books."""
    from eval_pipeline.commands.setup import init_ledger as command

    raise typer.Exit(command(_out()))


@app.command()
def doctor(as_json: Json = False) -> None:
    """What is here, what is missing, and why."""
    from eval_pipeline.commands.setup import doctor as command

    raise typer.Exit(command(_out(), as_json=as_json))


@app.command()
def dev(
    port: Annotated[int, typer.Option(help="of the UI, on loopback")] = 3000,
    host: Annotated[str, typer.Option(help="the UI has no authentication: other hosts at your own risk")] = "127.0.0.1",
) -> None:
    """Serves the Dagster UI and its daemon over the same databases."""
    from eval_pipeline.commands.dev import dev as command

    raise typer.Exit(command(host, port, _err()))


@app.command()
def worker(
    processes: Annotated[int, typer.Option(min=1, help="steps at once")] = 1,
) -> None:
    """Takes steps of runs from celery's broker (EVAL_CELERY_BROKER), on this machine or another."""
    from eval_pipeline.commands.worker import worker as command

    raise typer.Exit(command(processes, _err()))


def main() -> None:
    """The entry point: a user's mistake ends in one line on stderr and exit code 2, never in a traceback."""
    try:
        _main()
    except SystemExit as end:
        _end_although_attempts_go_on(end.code)
        raise


def _main() -> None:
    from eval_pipeline.errors import NO_BOARD, NOT_GREEN, EvalPipelineError
    from eval_pipeline.postgres import PostgresUnavailable
    from eval_pipeline.terminal import never_fail

    never_fail(sys.stdout, sys.stderr)
    try:
        app()
    except EvalPipelineError as error:
        _err().print(f"error: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _err().print("interrupted", style="red")
        sys.exit(NOT_GREEN)
    except PostgresUnavailable as error:
        _err().print(f"error: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(NO_BOARD)


def _end_although_attempts_go_on(code: object) -> None:
    """Ends the process at once when attempts that were given up still run in it.

    They may have started threads of their own (a pool), and the interpreter would wait for these for ever.
    """
    if not any(thread.name.startswith(ATTEMPTS) for thread in threading.enumerate()):
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else code is not None)


ATTEMPTS = "attempts"
"""How the names of all threads begin that run attempts; they are gone when no attempt is left."""


if __name__ == "__main__":
    main()
