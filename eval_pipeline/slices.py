"""A board cut by the tags of its examples: which family, language or layout is good and which is not."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from eval_pipeline.board import Board, ExampleBoard
from eval_pipeline.statistics import wilson
from eval_pipeline.suite import AgentSuite
from eval_pipeline.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Slice:
    """The examples of one agent with one tag: how many there are, were graded and passed, and means by score key.

    ``interval`` is Wilson's at 95 % for passes over what was not skipped, as on the board.
    """

    agent: str
    tag: str
    n_examples: int
    n_graded: int
    n_passed: int
    interval: tuple[float, float]
    score_means: Mapping[str, float]


def slices(board: Board, suites: Iterable[AgentSuite]) -> Iterator[Slice]:
    """The slices by agent and tag, in their order. An example with several tags is in several slices.

    The tags are those of the datasets of now; an example that is no longer there has none.
    """
    tags = {(item.name, example.id): example.tags for item in suites for example in item.dataset.examples}
    found: dict[tuple[str, str], list[ExampleBoard]] = defaultdict(list)
    for item in board.examples:
        for tag in tags.get((item.agent, item.id), ()):
            found[item.agent, tag].append(item)
    for (agent, tag), examples in sorted(found.items()):
        yield _slice(agent, tag, examples)


def _slice(agent: str, tag: str, examples: list[ExampleBoard]) -> Slice:
    there = [item for item in examples if item.verdict is not Verdict.SKIP]
    n_passed = sum(item.verdict is Verdict.PASS for item in there)
    values: dict[str, list[float]] = defaultdict(list)
    for item in there:
        for key, value in item.scores.items():
            values[key].append(value)
    means = {key: fmean(of_key) for key, of_key in sorted(values.items())}
    graded = sum(bool(item.scores) for item in there)
    return Slice(agent, tag, len(examples), graded, n_passed, wilson(n_passed, len(there)), means)
