"""Two runs compared, example by example: what is newly red, newly green, and which scores moved."""

from collections.abc import Iterator
from dataclasses import dataclass

from eval_pipeline.board import Board, ExampleBoard
from eval_pipeline.statistics import mcnemar
from eval_pipeline.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Change:
    """One example whose verdict or scores differ; ``before`` is SKIP where it was not graded.

    ``scores`` are (key, before, after).
    """

    name: str
    before: Verdict
    after: Verdict
    reason: str
    scores: tuple[tuple[str, float | None, float | None], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two runs.

    ``newly_red`` is red now and was not: an example that the earlier run skipped or lacks may be among them. All else
    is of the examples that both graded. ``p_value`` is that of the exact McNemar test on passes; ``not_comparable``
    says why the runs are not runs of the same thing.
    """

    newly_red: tuple[Change, ...]
    newly_green: tuple[Change, ...]
    changed: tuple[Change, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    n_both: int
    p_value: float
    not_comparable: tuple[str, ...]


def compare(before: Board, after: Board) -> Comparison:
    """Compares two boards. Examples that one of them skipped or lacks are listed and left out of the test."""
    left = {f"{item.agent}/{item.id}": item for item in before.examples if item.verdict is not Verdict.SKIP}
    right = {f"{item.agent}/{item.id}": item for item in after.examples if item.verdict is not Verdict.SKIP}
    both = [name for name in left if name in right]
    changes = [_change(name, left[name], right[name]) for name in both]
    lost = sum(c.before is Verdict.PASS and c.after is not Verdict.PASS for c in changes)
    won = sum(c.after is Verdict.PASS and c.before is not Verdict.PASS for c in changes)
    moved = [c for c in changes if c.scores or c.before is not c.after]
    red = [c for c in moved if c.after.is_red and not c.before.is_red]
    red += [_appeared(name, item) for name, item in right.items() if name not in left and item.verdict.is_red]
    green = [c for c in moved if c.before.is_red and not c.after.is_red]
    rest = [c for c in moved if c.before.is_red is c.after.is_red]
    return Comparison(
        tuple(red),
        tuple(green),
        tuple(rest),
        tuple(name for name in left if name not in right),
        tuple(name for name in right if name not in left),
        len(both),
        mcnemar(lost, won),
        tuple(_not_comparable(before, after)),
    )


def _appeared(name: str, item: ExampleBoard) -> Change:
    scores = tuple((key, None, value) for key, value in sorted(item.scores.items()))
    return Change(name, Verdict.SKIP, item.verdict, item.reason, scores)


def _change(name: str, before: ExampleBoard, after: ExampleBoard) -> Change:
    keys = sorted(before.scores.keys() | after.scores.keys())
    moved = tuple(
        (key, before.scores.get(key), after.scores.get(key))
        for key in keys
        if before.scores.get(key) != after.scores.get(key)
    )
    return Change(name, before.verdict, after.verdict, after.reason, moved)


def _not_comparable(before: Board, after: Board) -> Iterator[str]:
    if before.model != after.model:
        yield f"the models differ: {before.model or 'none'} and {after.model or 'none'}"
    if before.trials != after.trials:
        yield f"the numbers of trials differ: {before.trials} and {after.trials}"
    digests = {row.agent: row.dataset_digest for row in before.agents}
    for row in after.agents:
        if row.agent in digests and digests[row.agent] != row.dataset_digest:
            yield f"the datasets of {row.agent} differ"
    for row in after.agents:
        if row.agent in digests and _unanswered(before, row.agent) != _unanswered(after, row.agent):
            yield f"the judge of {row.agent} did not answer on the same examples in both runs"


def _unanswered(board: Board, agent: str) -> frozenset[str]:
    """The examples whose judge was not there: their 0 says nothing about the agent."""
    return frozenset(item.id for item in board.examples if item.agent == agent and item.unanswered)
