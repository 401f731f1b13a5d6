"""How many leaves of ``expected`` are shown to be live in a second, on the Bookkeeper's own examples and evaluators."""

from dataclasses import dataclass
from time import perf_counter

from eval_pipeline.registry import agent
from eval_pipeline.rules.liveness import live_leaves
from eval_pipeline.settings import settings
from eval_pipeline.suite import load_agent

SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Measured:
    """How many leaves were scored again in how many seconds, and how many of them were live."""

    n_leaves: int
    n_live: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Leaves a second."""
        return self.n_leaves / self.seconds


def measure() -> Measured:
    """Scores the examples' leaves for about two seconds. The outputs are those that are expected: all passed."""
    suite = load_agent(agent("bookkeeping.agents.bookkeeper"), settings().datasets)
    n_leaves = n_live = 0
    began = perf_counter()
    while True:
        for example in suite.dataset.examples:
            for leaf in live_leaves(suite.evaluators, example, example.expected):
                n_leaves += 1
                n_live += leaf.is_live
            seconds = perf_counter() - began
            if seconds > SECONDS:
                return Measured(n_leaves, n_live, seconds)
