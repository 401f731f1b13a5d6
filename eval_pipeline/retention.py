"""Which runs may be deleted: the old ones, without those that somebody still needs. Decided on values alone."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from eval_pipeline.rules.after_run import NOT_SEEN_IN


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One root run as retention sees it. Times are UTC.

    ``is_whole``: it came to its end uninterrupted and was not a selection, as rules over several runs count it.
    ``agents``: those that had examples in it. ``graded``: agent and id of each example with an intermittent defect that
    has a verdict in it other than SKIP and ERROR.
    """

    run_id: str
    created_at: datetime
    finished_at: datetime | None
    model: str | None
    is_whole: bool
    has_whole_board: bool = False
    has_been_green: bool = False
    agents: frozenset[str] = frozenset()
    graded: frozenset[tuple[str, str]] = frozenset()

    @property
    def ended_at(self) -> datetime:
        """When it ended; when it began, if its process was killed."""
        return self.finished_at or self.created_at


def newest_whole(runs: Iterable[StoredRun]) -> frozenset[str]:
    """The newest whole run of each agent with each model, and the newest one that was GREEN."""
    return frozenset(_newest_whole(_newest_first(runs)))


def _newest_whole(runs: Iterable[StoredRun]) -> Iterator[str]:
    seen: set[tuple[str, str | None]] = set()
    is_green_seen = False
    for run in runs:
        mine = {(agent, run.model) for agent in run.agents}
        if run.is_whole and run.has_whole_board and not mine <= seen:
            seen |= mine
            yield run.run_id
        if run.has_been_green and not is_green_seen:  # since when a board is red is told from it
            is_green_seen = True
            yield run.run_id


def seen_by_rules(runs: Iterable[StoredRun], last: int = NOT_SEEN_IN) -> frozenset[str]:
    """The runs in which ``stale_intermittents`` looks for intermittent defects: the last ones of each example."""
    return frozenset(_seen_by_rules(_newest_first(runs), last))


def _seen_by_rules(runs: Iterable[StoredRun], last: int) -> Iterator[str]:
    counted: Counter[tuple[str, str, str | None]] = Counter()
    for run in runs:
        mine = [(agent, example, run.model) for agent, example in run.graded] if run.is_whole else []
        if any(counted[one] < last for one in mine):
            yield run.run_id
        counted.update(mine)


def deletable(
    runs: Sequence[StoredRun], before: datetime, in_progress: frozenset[str], last: int = NOT_SEEN_IN
) -> tuple[StoredRun, ...]:
    """The runs that ended before an instant and that nobody needs, the oldest first."""
    needed = in_progress | newest_whole(runs) | seen_by_rules(runs, last)
    return tuple(run for run in _newest_first(runs)[::-1] if run.ended_at < before and run.run_id not in needed)


def _newest_first(runs: Iterable[StoredRun]) -> list[StoredRun]:
    return sorted(runs, key=lambda run: (run.created_at, run.run_id), reverse=True)
