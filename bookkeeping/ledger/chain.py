"""Verifying a chain: every hash again from the stored columns, every link, every position."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bookkeeping.ledger.canonical import GENESIS, VERSION, CanonicalFormError, entry_hash
from bookkeeping.ledger.currency import UnknownCurrency
from bookkeeping.ledger.reading import StoredEntry
from bookkeeping.ledger.sealing import stored_payload


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """One thing that is wrong at a position.

    kind: "content" (the stored columns do not give the stored hash), "link" (prev_hash is not the hash of the entry
    before it), "position" (numbers are missing before it), "version" (written by rules that this code does not know).
    """

    seq: int
    kind: Literal["content", "link", "position", "version"]


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What verifying found. A cut tail shows only against an anchor: keep `head_seq` and `head_hash` elsewhere."""

    n_entries: int
    head_seq: int
    head_hash: str
    breaks: tuple[ChainBreak, ...]

    @property
    def is_intact(self) -> bool:
        """No break."""
        return not self.breaks


def verify(chain: str, stored: Iterable[StoredEntry]) -> ChainReport:
    """Verifies entries given in the order of the chain from its first."""
    n_entries, seq, head = 0, 0, GENESIS
    breaks: list[ChainBreak] = []
    for item in stored:
        entry = item.entry
        n_entries += 1
        if entry.seq != seq + 1:
            breaks.append(ChainBreak(entry.seq, "position"))
        if entry.prev_hash != head:
            breaks.append(ChainBreak(entry.seq, "link"))
        if entry.version != VERSION:
            breaks.append(ChainBreak(entry.seq, "version"))
        elif _recomputed(chain, item) != entry.hash:
            breaks.append(ChainBreak(entry.seq, "content"))
        seq, head = entry.seq, entry.hash
    return ChainReport(n_entries, seq, head, tuple(breaks))


def _recomputed(chain: str, item: StoredEntry) -> str | None:
    try:
        return entry_hash(item.entry.prev_hash, stored_payload(item.entry, chain=chain, currencies=item.currencies))
    except (CanonicalFormError, UnknownCurrency):
        return None
