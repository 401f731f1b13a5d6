"""One measurement of this harness in a fresh process: ``python -m bench.measure TARGET N``, JSON on stdout."""

import json
import resource
import sys
import threading
from dataclasses import asdict

import psutil

from bench.database import results
from bench.echo import target
from bench.runner import examples, plan_of, run

TARGETS = {"async": target.LOOP, "threads": target.THREAD}


def peak_kib() -> int:
    """The most memory that the process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class _Memory:
    """Memory of the process at the ends of the steps, in KiB, and the most that it was while outcomes were made."""

    def __init__(self) -> None:
        self.running = 0
        self._process = psutil.Process()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def now(self) -> int:
        return int(self._process.memory_info().rss) // 1024

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._done.set()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            self.running = max(self.running, self.now())


def main() -> None:
    """Measures and prints."""
    kind, n = sys.argv[1], int(sys.argv[2])
    memory = _Memory()
    with results() as database:
        run(database, plan_of(TARGETS[kind], examples(10), "warm-up"))  # what is imported late is no cost of an example
        before, peak_before = memory.now(), peak_kib()
        cases = examples(n)
        loaded = memory.now()
        memory.start()
        phases, _ = run(database, plan_of(TARGETS[kind], cases), on_ran=memory.stop)
    value = {
        "seconds": phases.total,
        "kib": peak_kib() - peak_before,
        "phases": asdict(phases),
        "dataset_kib": loaded - before,
        "running_kib": max(0, memory.running - loaded),
    }
    print(json.dumps(value))


if __name__ == "__main__":
    main()
