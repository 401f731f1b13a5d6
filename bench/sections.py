"""The sections of the benchmark: each measures one thing and gives the lines of its table."""

import heapq
import json
import math
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter, sleep
from typing import Any

from bench import attestation, auditor, celery, connections, liveness, night_cost, nights, overhead
from bench.database import results
from bench.echo import expected, target
from bench.kills import Killer, places
from bench.peers import PEERS, Cost, NotMeasured, measure
from bench.runner import ENTRY, examples, plan_of, run
from eval_pipeline.dataset import Example
from eval_pipeline.outcome import Outcome, Status
from eval_pipeline.pipeline import start
from eval_pipeline.writer import OutcomeWriter

Lines = Iterator[str]


@dataclass(frozen=True, slots=True)
class _Own:
    """One measurement of this harness: what an example cost, the share of each step, and memory in MiB."""

    cost: Cost
    phases: dict[str, float]
    dataset_mib: float
    running_mib: float


def own(kind: str, n: int) -> _Own:
    """Measures this harness in a fresh process."""
    command = [sys.executable, "-m", "bench.measure", kind, str(n)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    cost = Cost(value["seconds"] / n * 1e6, value["kib"] / n)
    phases = {name: seconds / n * 1e6 for name, seconds in value["phases"].items()}
    return _Own(cost, phases, value["dataset_kib"] / 1024, value["running_kib"] / 1024)


def runner(n: int, repeat: int) -> Lines:
    """This harness beside its peers: every runner in turn, as often as asked for, and the median of each."""
    yield f"{n} examples, 3 exact scores each, 16 at once; median of {repeat} (lowest), each in a fresh process; slow"
    yield "peers once. Peers keep nothing durable, this harness everything"
    yield f"{'runner':<19} {'us/example':>10} {'(lowest)':>9} {'KiB/example':>12}  note"
    costs: dict[str, list[Cost]] = {}
    notes = {peer.name: peer.note for peer in PEERS}
    phases: list[dict[str, float]] = []
    for round in range(repeat):
        for peer in PEERS:
            if "failed" not in notes[peer.name] and (round == 0 or not peer.is_slow):
                try:
                    costs.setdefault(peer.name, []).append(measure(peer, n))
                except NotMeasured as reason:
                    notes[peer.name] = f"failed: {reason}"
        for kind in ("async", "threads"):
            found = own(kind, n)
            costs.setdefault(f"this, {kind}", []).append(found.cost)
            phases.append(found.phases)
    for name in [*notes, "this, async", "this, threads"]:
        yield _row(name, costs.get(name, []), notes.get(name, "all of it durable, with traces, verdicts and a board"))
    steps = {step: statistics.median(each[step] for each in phases) for step in phases[0]}
    yield "this, by step: " + ", ".join(f"{step} {us:.0f} us" for step, us in steps.items())


def _row(name: str, costs: list[Cost], note: str) -> str:
    if not costs:
        return f"{name:<19} {'-':>10} {'-':>9} {'-':>12}  {note}"
    us, kib = [cost.us for cost in costs], [cost.kib for cost in costs]
    return f"{name:<19} {statistics.median(us):>10.0f} {min(us):>9.0f} {statistics.median(kib):>12.1f}  {note}"


def scale(sizes: Iterable[int] = (10_000, 100_000)) -> Lines:
    """One run of many examples: what an example costs does not grow, and the run itself holds no more memory."""
    yield f"{'examples':>8} {'us/example':>10} {'KiB/example':>12} {'dataset MiB':>12} {'more while running MiB':>23}"
    for n in sizes:
        found = own("async", n)
        cost = found.cost
        yield f"{n:>8} {cost.us:>10.0f} {cost.kib:>12.1f} {found.dataset_mib:>12.1f} {found.running_mib:>23.1f}"


def latency(n: int = 2000, concurrency: int = 100, median_s: float = 0.2, sigma: float = 0.5) -> Lines:
    """Simulated latency, log-normal: how near a run comes to the time that nobody could beat."""
    dice = random.Random(4)
    waits = [median_s * math.exp(sigma * dice.gauss(0, 1)) for _ in range(n)]
    cases = tuple(
        Example(id=str(i), inputs={"i": i, "milliseconds": str(wait * 1000)}, expected=dict(expected(i)))
        for i, wait in enumerate(waits)
    )
    best = ideal(waits, concurrency)
    with results() as database:
        run(database, plan_of(target.LATE, cases[:concurrency], "warm-up"), concurrency)
        phases, _ = run(database, plan_of(target.LATE, cases), concurrency)
    yield f"{n} examples, latency log-normal with median {median_s * 1000:.0f} ms, {concurrency} at once"
    yield f"ideal {best:.2f} s; run {phases.run:.2f} s = {best / phases.run:.1%} of ideal;"
    yield f"with scores and board {phases.total:.2f} s = {best / phases.total:.1%}"


def ideal(waits: Iterable[float], concurrency: int) -> float:
    """Seconds until all are done when each begins the moment that a place is free, in this order."""
    free = [0.0] * concurrency
    for wait in waits:
        heapq.heappush(free, heapq.heappop(free) + wait)
    return max(free)


def durability(per_second: int = 1000, seconds: float = 5.0) -> Lines:
    """How long a finished outcome waits until it is durable (``synchronous_commit`` on); 250 ms are promised."""
    waited: list[float] = []
    began: dict[str, float] = {}

    def durable(batch: list[Outcome]) -> None:
        now = perf_counter()
        waited.extend(now - began[outcome.example_id] for outcome in batch)

    cases = examples(1)
    with results() as database:
        start(database, plan_of(target.LOOP, cases))
        with OutcomeWriter(database.url, "bench", ENTRY.name, durable) as writer:
            for outcome in _outcomes(int(per_second * seconds)):
                began[outcome.example_id] = perf_counter()
                writer.put(outcome)
                sleep(1 / per_second)
    cuts = statistics.quantiles(waited, n=100)
    yield f"{len(waited)} outcomes, about {per_second} a second: from finished to durable"
    yield f"median {cuts[49] * 1000:.0f} ms, p99 {cuts[98] * 1000:.0f} ms, longest {max(waited) * 1000:.0f} ms"


def _outcomes(n: int) -> Iterator[Outcome]:
    from eval_pipeline.attempt import Task, run_attempt

    for number in range(n):
        task = Task("bench", ENTRY.name, str(number), 0, number, {"i": number}, "0" * 64)
        outcome = run_attempt(task, lambda inputs, _: expected(inputs["i"]), 10_000)
        if outcome.status is not Status.COMPLETED:
            raise RuntimeError(str(outcome.failure))
        yield outcome


def resume(seeds: int = 100) -> Lines:
    """Runs of the Bookkeeper killed at random moments, resumed, and compared with one that nobody disturbed."""
    with places() as where:
        killer = Killer(where)
        survived = [killer.survive(seed) for seed in range(seeds)]
    good = [each for each in survived if not each.problems]
    kills = sum(each.kills for each in survived)
    yield f"{len(good)} of {seeds} seeds survived {kills} kills: same board, nothing twice or missing, no book left"
    for each in survived:
        for problem in each.problems:
            yield f"seed {each.seed}: {problem}"


SECTIONS: dict[str, Callable[[], Lines]] = {
    "runner": lambda: runner(int(os.environ.get("BENCH_N", "10000")), int(os.environ.get("BENCH_REPEAT", "3"))),
    "scale": scale,
    "latency": latency,
    "durability": durability,
    "resume": lambda: resume(int(os.environ.get("BENCH_SEEDS", "100"))),
    "attestation": lambda: iter([str(attestation.measure())]),
    "liveness": lambda: iter([str(liveness.measure())]),
    "night": night_cost.measure,
    "celery": celery.measure,
    "overhead": overhead.measure,
    "connections": connections.measure,
    "nights": lambda: nights.nights(int(os.environ.get("BENCH_NIGHTS", "5"))),
    "audit": lambda: iter([str(auditor.measure())]),
}
