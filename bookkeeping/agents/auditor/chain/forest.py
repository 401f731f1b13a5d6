"""The links of a broken chain: which run of entries follows which, and which follow nothing that is stored."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bookkeeping.agents.auditor.chain.rows import Rows
from bookkeeping.agents.auditor.chain.scan import Segment
from bookkeeping.ledger.canonical import GENESIS

GENESIS_NODE = -1


@dataclass(frozen=True, slots=True)
class Forest:
    """Runs by position, each with the run that it follows: an index, GENESIS_NODE, or None for a hash of no entry.

    ``longest`` is the number of entries from the start of a run to the end of the longest chain through it.
    """

    segments: tuple[Segment, ...]
    parents: tuple[int | None, ...]
    children: dict[int, list[int]] = field(default_factory=dict)
    longest: dict[int, int] = field(default_factory=dict)

    def roots(self) -> list[int]:
        """The runs that follow no stored entry and not the genesis value."""
        return [index for index, parent in enumerate(self.parents) if parent is None]

    def main_path(self, start: int) -> list[int]:
        """The longest chain of runs from this one on; of equally long ones that with the lower position."""
        path = [start]
        while following := self.children.get(path[-1]):
            path.append(min(following, key=lambda index: (-self.longest[index], self.segments[index].first_seq)))
        return path

    def containing(self, seq: int) -> int:
        """The run that an entry is in."""
        return bisect_right([item.first_seq for item in self.segments], seq) - 1


def forest(found: Sequence[Segment], rows: Rows) -> Forest:
    """Follows every link. A run that is followed in its middle is cut there."""
    segments = _cut(list(found), rows)
    ends = {item.last_hash: index for index, item in reversed(list(enumerate(segments)))}
    parents: list[int | None] = [
        GENESIS_NODE if item.prev_hash == GENESIS else ends.get(item.prev_hash) for item in segments
    ]
    for index in range(len(parents)):
        if _is_in_a_circle(parents, index):
            parents[index] = None
    children: dict[int, list[int]] = {}
    for index, parent in enumerate(parents):
        if parent is not None:
            children.setdefault(parent, []).append(index)
    made = Forest(tuple(segments), tuple(parents), children)
    for start in (*made.roots(), *children.get(GENESIS_NODE, ())):
        _measure(made, start)
    return made


def _cut(segments: list[Segment], rows: Rows) -> list[Segment]:
    ends = {item.last_hash for item in segments} | {GENESIS}
    followed = rows.with_hashes({item.prev_hash for item in segments} - ends)
    for place in sorted(followed.values(), key=lambda place: place.seq):
        index = bisect_right([item.first_seq for item in segments], place.seq) - 1
        whole = segments[index]
        if place.seq == whole.last_seq:
            continue
        seqs = rows.seqs_between(whole.first_seq, whole.last_seq)
        n = bisect_right(seqs, place.seq)
        head = replace(whole, last_seq=place.seq, n=n, last_hash=place.hash)
        tail = replace(whole, first_seq=seqs[n], n=whole.n - n, prev_hash=place.hash)
        segments[index : index + 1] = [head, tail]
    return segments


def _is_in_a_circle(parents: Sequence[int | None], start: int) -> bool:
    """Stored hashes are not proof of anything: they may have been written so that they lead back to themselves."""
    steps, at = 0, parents[start]
    while at is not None and at != GENESIS_NODE and steps <= len(parents):
        if at == start:
            return True
        at, steps = parents[at], steps + 1
    return False


def _measure(made: Forest, start: int) -> None:
    order = [start]
    for index in order:
        order.extend(made.children.get(index, ()))
    for index in reversed(order):
        behind = max((made.longest[child] for child in made.children.get(index, ())), default=0)
        made.longest[index] = made.segments[index].n + behind
