"""The chain against what somebody outside the database wrote down: the only way to see a cut tail or a whole suffix
that was hashed again.
"""

from collections.abc import Mapping
from datetime import datetime

from bookkeeping.agents.auditor.chain.rows import Rows
from bookkeeping.agents.auditor.finding import Finding
from bookkeeping.agents.auditor.inputs import Anchor


def truncated(last_seq: int, anchors: tuple[Anchor, ...], restored: datetime | None) -> list[Finding]:
    """The latest anchor names a position above the last one, and no restore was recorded after it."""
    latest = max(anchors, key=lambda item: (item.seq, item.time))
    if latest.seq <= last_seq or (restored is not None and restored > latest.time):
        return []
    flags = {
        "last_seq": last_seq, "anchored_seq": latest.seq, "missing_count": latest.seq - last_seq,
        "anchor_time": latest.time,
    }  # fmt: skip
    return [Finding("hash_truncated_tail", "critical", flags, ())]


def rehashed(rows: Rows, anchors: tuple[Anchor, ...], moved: Mapping[int, int], explained: set[int]) -> list[Finding]:
    """An anchor states another hash for a position that is there, and no changed entry there explains it.

    ``moved`` gives the place in the chain by stored position, for entries that stand elsewhere.
    """
    stored_at = {place: seq for seq, place in moved.items()}
    places = rows.places(stored_at.get(item.seq, item.seq) for item in anchors)
    agreed = 0
    for anchor in anchors:
        place = places.get(stored_at.get(anchor.seq, anchor.seq))
        if place is None or anchor.seq in explained:
            continue
        if place.hash == anchor.hash:
            agreed = anchor.seq
            continue
        flags = {
            "anchored_seq": anchor.seq, "anchored_hash": anchor.hash, "chain_hash": place.hash,
            "first_possible_change": agreed + 1,
        }  # fmt: skip
        return [Finding("hash_rehashed_suffix", "critical", flags, (place.entry_id,))]
    return []
