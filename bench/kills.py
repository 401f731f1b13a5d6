"""Kills: a run of the Bookkeeper over a real ledger, killed with SIGKILL at random moments, resumed, and compared.

What is asked of every seed: a resume runs only what is missing, the board is that of an undisturbed run, every trial
has exactly one outcome, and the ledger holds no book.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import psycopg

from bench.database import databases
from eval_pipeline.board import Board, build_board
from eval_pipeline.dataset import Dataset, Example
from eval_pipeline.grading import score_agent
from eval_pipeline.pipeline import Plan, Request, publish_board, run_one_agent, start
from eval_pipeline.registry import agent
from eval_pipeline.results.database import Database
from eval_pipeline.selection import Selection
from eval_pipeline.settings import Settings
from eval_pipeline.storage import prepare_ledger
from eval_pipeline.suite import AgentSuite

ENTRY = agent("bookkeeping.agents.bookkeeper")
N_EXAMPLES = 40
CONCURRENCY = 4
N_WRONG = len(range(0, N_EXAMPLES, 7))
PATIENCE_S = 100.0
LOOK_S = 0.01


@dataclass(frozen=True, slots=True)
class Places:
    """Where a run reads and writes."""

    results_url: str
    ledger_url: str


@dataclass(frozen=True, slots=True)
class Survived:
    """One seed: how often the run was killed before it came to its end, and what was not as it should be."""

    seed: int
    kills: int
    problems: tuple[str, ...]


def suite() -> AgentSuite:
    """The Bookkeeper as it is registered, with sales of different amounts, every seventh of them graded wrongly."""
    from eval_pipeline.evaluator import load_evaluators
    from eval_pipeline.target import load_target

    examples = tuple(_sale(number) for number in range(N_EXAMPLES))
    dataset = Dataset(ENTRY.name, Path("sales"), examples, {example.id: Path("sales") for example in examples})
    evaluators = tuple(item for item in load_evaluators(ENTRY) if item.reads <= {"status", "n_entries", "balances"})
    return AgentSuite(ENTRY, dataset, load_target(ENTRY), evaluators)


def _sale(number: int) -> Example:
    net, tax = Decimal(100 + number), Decimal(100 + number) / 5
    record = {
        "doc_type": "sales_invoice",
        "number": f"S-{number}",
        "date": "2026-03-04",
        "issuer": "Larch Trading Ltd",
        "currency": "EUR",
        "facts": {"tax": "one_rate"},
        "amounts": {"net": f"{net:.2f}", "rate": "20"},
        "categories": {"revenue": "goods"},
    }
    book = {"company": "Larch Trading Ltd", "currency": "EUR", "open_from": "2026-01-01", "open_to": "2026-12-31"}
    owed = f"{net + tax:.2f}" if number % 7 else "0.01"
    balances = {"1110": owed, "4010": f"{-net:.2f}", "2210": f"{-tax:.2f}"}
    return Example(
        id=f"sale-{number}",
        inputs={"book": book, "record": record},
        expected={"status": "posted", "n_entries": 1, "balances": balances},
    )


def run(places: Places, run_id: str) -> None:
    """The whole of a run, or what is missing of it: what ``eval-pipeline run --resume`` does, without Dagster."""
    loaded = suite()
    plan = Plan(run_id, Request(Selection((ENTRY.name,))), (loaded,), {ENTRY.name: loaded.dataset.examples})
    settings = Settings.model_validate({"concurrency": CONCURRENCY, "ledger_url": places.ledger_url})
    with Database(places.results_url) as database:
        start(database, plan)
        run_one_agent(database, plan, ENTRY.name, settings)
        score_agent(loaded, database, run_id)
        publish_board(database, run_id)


@contextmanager
def places() -> Iterator[Places]:
    """Empty databases on the embedded server, prepared, and dropped afterwards."""
    with databases(2) as (results_url, ledger_url):
        with Database(results_url) as database:
            database.migrate()
        prepare_ledger(ledger_url)
        yield Places(results_url, ledger_url)


class Killer:
    """Runs in processes that were forked from one which has everything imported, so that a kill hits the work."""

    def __init__(self, where: Places) -> None:
        self.where = where
        self._context: ForkServerContext = get_context("forkserver")
        self._context.set_forkserver_preload(["bench.kills", "bookkeeping.agents.bookkeeper.graph"])
        self._undisturbed("warm-up")  # the first process pays for the imports
        began = perf_counter()
        self._whole = self._undisturbed("undisturbed")
        self._seconds = perf_counter() - began
        verdicts = self._whole.agents[0].verdicts
        if (verdicts["PASS"], verdicts["FAIL"]) != (N_EXAMPLES - N_WRONG, N_WRONG):
            raise RuntimeError(f"the undisturbed run is not what it should be: {self._whole.examples[0].reason}")

    def survive(self, seed: int) -> Survived:
        """Kills one run up to four times at moments that the seed decides, lets it end, and compares.

        The first kill waits for a number of stored outcomes, so that it always hits; the others for a time, so that
        they hit what comes before and after the outcomes too.
        """
        dice = random.Random(seed)
        run_id = f"seed-{seed}"
        kills = int(self._killed_at(run_id, dice.randrange(N_EXAMPLES)))
        kills += sum(self._killed_after(run_id, dice.uniform(0, self._seconds)) for _ in range(dice.randrange(4)))
        before = self._outcomes(run_id)
        board = self._undisturbed(run_id)
        return Survived(seed, kills, tuple(self._problems(board, before)))

    def _undisturbed(self, run_id: str) -> Board:
        process = self._started(run_id)
        process.join(PATIENCE_S)
        if process.exitcode != 0:
            process.kill()
            raise RuntimeError(f"{run_id} did not come to its end: {process.exitcode}")
        with Database(self.where.results_url) as database:
            return build_board(database, run_id)

    def _killed_at(self, run_id: str, n_outcomes: int) -> bool:
        process = self._started(run_id)
        while process.exitcode is None and len(self._outcomes(run_id)) < n_outcomes:
            sleep(LOOK_S)
        return self._killed(process)

    def _killed_after(self, run_id: str, seconds: float) -> bool:
        process = self._started(run_id)
        process.join(seconds)
        return self._killed(process)

    def _started(self, run_id: str) -> ForkServerProcess:
        process = self._context.Process(target=run, args=(self.where, run_id))
        process.start()
        return process

    @staticmethod
    def _killed(process: ForkServerProcess) -> bool:
        was_running = process.exitcode is None
        process.kill()
        process.join(PATIENCE_S)
        return was_running

    def _problems(self, board: Board, before: dict[str, Any]) -> Iterator[str]:
        here, whole = comparable(board), comparable(self._whole)
        if here != whole:
            pairs = zip(here["examples"], whole["examples"], strict=False)
            lines = [f"{mine} instead of {theirs}" for mine, theirs in pairs if mine != theirs]
            yield f"the board is not that of the undisturbed run: {lines[:2] or (here['agents'], whole['agents'])}"
        after = self._outcomes(board.run_id)
        if len(after) != N_EXAMPLES:
            yield f"{len(after)} outcomes of {N_EXAMPLES}"
        again = [example for example, started_at in before.items() if after.get(example) != started_at]
        if again:
            yield f"run again although it was finished: {', '.join(again)}"
        with psycopg.connect(self.where.ledger_url) as connection:
            row = connection.execute("select count(*) from ledger.books").fetchone()
        if row != (0,):
            yield f"books are left: {row}"

    def _outcomes(self, run_id: str) -> dict[str, Any]:
        """When each stored outcome of a run began, by example."""
        with psycopg.connect(self.where.results_url) as connection:
            query = "select example_id, started_at from results.outcomes where run_id = %s"
            return dict(connection.execute(query, (run_id,)).fetchall())


def comparable(board: Board) -> dict[str, Any]:
    """A board as JSON without its times and its id."""
    value = board.as_json()
    for name in ("run_id", "started_at", "finished_at"):
        del value[name]
    for row in value["agents"]:
        del row["seconds"]
    return value
