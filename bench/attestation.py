"""What attestation costs the Bookkeeper: the first time in a process, then as at the start of each further run."""

from dataclasses import dataclass
from statistics import median
from time import perf_counter

from eval_pipeline.registry import agent
from eval_pipeline.rules.attestation import Attestation
from eval_pipeline.target import load_target

TIMES = 20


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds.

    ``first``: the source files are compiled and executed afresh, the rule tables read again. ``again``: the median of
    ``TIMES`` attestations after that, with every binding and table compared anew. ``best``: the quickest of them.
    ``graph``: the check of the compiled graph, once a run.
    """

    first: float
    again: float
    best: float
    graph: float


def measure() -> Measured:
    """Attests the Bookkeeper's modules as a run has them: everything imported, the posting rules loaded."""
    entry = agent("bookkeeping.agents.bookkeeper")
    target = load_target(entry)
    from bookkeeping.agents.bookkeeper.graph import build_graph
    from bookkeeping.agents.bookkeeper.rulebook import rulebook

    rulebook()
    graph = build_graph()
    attestation = Attestation(entry, target)
    seconds = [_seconds(attestation) for _ in range(TIMES + 1)]
    began = perf_counter()
    attestation.check(graph, {})
    return Measured(seconds[0], median(seconds[1:]), min(seconds[1:]), perf_counter() - began)


def _seconds(attestation: Attestation) -> float:
    began = perf_counter()
    if attestation.differences():
        raise RuntimeError("the reasoning in this process is not the one on disk: there is nothing to measure")
    return perf_counter() - began
