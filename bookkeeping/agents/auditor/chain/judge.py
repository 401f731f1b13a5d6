"""What a broken chain says about what was done to it: each break explained once, by the first check that can.

The order is that of the catalogue (hash_precedence). An entry is first judged by itself: it verifies, it verifies with
the position that it has in the order of the links, it verifies under a listed transformation, or it fails.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bookkeeping.agents.auditor.chain.forest import GENESIS_NODE, Forest
from bookkeeping.agents.auditor.chain.rows import Place, Rows, hash_of
from bookkeeping.agents.auditor.chain.scan import Scan
from bookkeeping.agents.auditor.chain.transformations import Hashed, explanations
from bookkeeping.agents.auditor.finding import Finding
from bookkeeping.ledger.canonical import GENESIS, VERSION

HEIGHTS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    "hash_genesis_missing": lambda _: 1,
    "hash_canonicalisation_mismatch": lambda flags: flags["first_seq"],
    "hash_reordered_rows": lambda flags: flags["first_seq"],
    "hash_tampered_row": lambda flags: flags["seq"],
    "hash_forked_chain": lambda flags: flags["fork_at_seq"] + 1,
    "hash_inserted_row": lambda flags: flags["after_seq"] + 1,
    "hash_deleted_row": lambda flags: flags["gap_after_seq"] + 1,
    "hash_truncated_tail": lambda flags: flags["last_seq"] + 1,
    "hash_rehashed_suffix": lambda flags: flags["first_possible_change"],
}
"""The lowest position that a finding puts in doubt, from its flags."""


@dataclass
class Judgement:
    """The work on one broken chain. ``failing`` shrinks as failures are explained; ``moved`` is by stored position."""

    rows: Rows
    scan: Scan
    forest: Forest
    time_zone: str
    parameters: Mapping[str, Any]
    failing: set[int] = field(default_factory=set)
    moved: dict[int, int] = field(default_factory=dict)
    rehashed: set[int] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)

    def judge(self) -> None:
        """Finds all that the entries alone show."""
        self.failing = set(self.scan.failing)
        reordered = self._reordered()
        genesis = self._genesis()
        canonical = self._canonicalisation()
        tampered = self._tampered()
        forks, inserted = self._branches()
        self.findings = [*genesis, *canonical, *reordered, *tampered, *forks, *inserted, *self._deleted()]

    def _genesis(self) -> list[Finding]:
        first = self.forest.segments[0]
        if first.first_seq == 1 and first.prev_hash == GENESIS:
            return []
        flags = {"first_seq": first.first_seq, "found_prev_hash": first.prev_hash, "genesis": GENESIS}
        return [_finding("hash_genesis_missing", flags, self._names([first.first_seq]))]

    def _reordered(self) -> list[Finding]:
        starts = (*self.forest.children.get(GENESIS_NODE, ()), *self.forest.roots())
        return [found for start in starts for found in self._reordered_path(start)]

    def _reordered_path(self, start: int) -> Iterable[Finding]:
        path = [self.forest.segments[index] for index in self.forest.main_path(start)]
        if all(one.first_seq < two.first_seq for one, two in pairwise(path)):
            return
        linked = [seq for item in path for seq in self.rows.seqs_between(item.first_seq, item.last_seq)]
        moved = {seq: place for seq, place in zip(linked, sorted(linked), strict=True) if seq != place}
        if not all(self._verifies_at(moved).values()):
            return
        self.moved |= moved
        self.failing -= moved.keys()
        first, last = min(moved.values()), max(moved.values())
        names = {place.seq: place.entry_id for place in self.rows.places(moved).values()}
        expected = [names[seq] for seq in linked if seq in moved]
        flags = {
            "first_seq": first, "last_seq": last, "expected_order": expected,
            "found_order": [names[seq] for seq in sorted(moved)],
        }  # fmt: skip
        yield _finding("hash_reordered_rows", flags, sorted(names.values()))

    def _verifies_at(self, moved: Mapping[int, int]) -> dict[int, bool]:
        verifies = {}
        for item in self.rows.stored(sorted(moved)):
            payload = self.rows.payload(item)
            place = {"seq": moved[item.entry.seq]}
            recomputed = None if payload is None else hash_of(item.entry.prev_hash, {**payload, **place})
            verifies[item.entry.seq] = recomputed == item.entry.hash
        return verifies

    def _canonicalisation(self) -> list[Finding]:
        settings = self.parameters["hash_canonicalisation_mismatch"]
        least, allowed = settings["min_rows"], settings["transformations"]
        seqs, explained = sorted(self.failing), {}
        for item in self.rows.stored(seqs):
            payload = self.rows.payload(item)
            if payload is not None and item.entry.version == VERSION:
                explained[item.entry.seq] = explanations(Hashed(item, payload, self.time_zone), allowed)
        found = []
        while names := Counter(name for seq in self.failing for name in explained.get(seq, ())):
            name, n = max(names.items(), key=lambda item: (item[1], -list(allowed).index(item[0])))
            # Fewer than min_rows of many failures prove no writer with another form.
            if n < least and n < len(self.failing):
                break
            taken = sorted(seq for seq in self.failing if name in explained.get(seq, ()))
            self.failing.difference_update(taken)
            found.append(self._mismatch(taken, name))
        if not found and len(seqs) == self.scan.n >= least:
            self.failing.clear()
            found.append(self._mismatch(seqs, None))
        return found

    def _mismatch(self, seqs: list[int], name: str | None) -> Finding:
        flags = {
            "failed_rows": len(seqs), "total_rows": self.scan.n, "transformation_that_verifies": name,
            "first_seq": seqs[0],
        }  # fmt: skip
        severity: Any = "high" if name else "critical"
        return _finding("hash_canonicalisation_mismatch", flags, self._names(seqs), severity)

    def _tampered(self) -> list[Finding]:
        found = [self._hash_left(item.entry.seq, item) for item in self.rows.stored(sorted(self.failing))]
        for before, after in self._breaks():
            if after.seq == before.seq + 1 and not {before.seq, after.seq} & self.failing:
                self.rehashed.add(before.seq)
                flags = {
                    "seq": before.seq, "entry_id": before.entry_id, "mode": "row_rehashed",
                    "stored_hash": before.hash, "recomputed_hash": before.hash, "changed_field_if_known": None,
                }  # fmt: skip
                found.append(_finding("hash_tampered_row", flags, [before.entry_id]))
        return sorted(found, key=lambda finding: finding.flags["seq"])

    def _hash_left(self, seq: int, item: Any) -> Finding:
        payload = self.rows.payload(item)
        recomputed = None if payload is None else hash_of(item.entry.prev_hash, payload)
        flags = {
            "seq": seq, "entry_id": item.entry.voucher, "mode": "hash_left", "stored_hash": item.entry.hash,
            "recomputed_hash": recomputed, "changed_field_if_known": None,
        }  # fmt: skip
        return _finding("hash_tampered_row", flags, [item.entry.voucher])

    def _deleted(self) -> list[Finding]:
        found = []
        for before, after in self._breaks():
            missing = after.seq - before.seq - 1
            if missing > 0 and not {before.seq, after.seq} & self.failing:
                flags = {
                    "gap_after_seq": before.seq, "gap_before_seq": after.seq, "missing_count": missing,
                    "expected_prev_hash": before.hash,
                }  # fmt: skip
                found.append(_finding("hash_deleted_row", flags, [before.entry_id, after.entry_id]))
        return found

    def _breaks(self) -> list[tuple[Place, Place]]:
        """The places around each link that names the hash of no entry. Before the first entry there is none."""
        starts = [self.forest.segments[index].first_seq for index in self.forest.roots()]
        ends = sorted(item.last_seq for item in self.forest.segments)
        pairs = [(ends[bisect_left(ends, seq) - 1], seq) for seq in starts if seq > ends[0]]
        places = self.rows.places({seq for pair in pairs for seq in pair})
        return [(places[before], places[after]) for before, after in sorted(pairs)]

    def _branches(self) -> tuple[list[Finding], list[Finding]]:
        forks, inserted = [], []
        for node, children in self.forest.children.items():
            heads = [index for index in children if self.forest.segments[index].first_seq not in self.failing]
            if len(heads) < 2:
                continue
            longest = {index: self.forest.longest[index] for index in heads}
            names = self.rows.places(self.forest.segments[index].first_seq for index in heads)
            heads.sort(key=lambda index: (-longest[index], names[self.forest.segments[index].first_seq].entry_id))
            main, *others = heads
            dead = [index for index in others if longest[index] == 1 and longest[main] > 1]
            branches = [main, *(index for index in others if index not in dead)]
            at = 0 if node == GENESIS_NODE else self.forest.segments[node].last_seq
            entries = {index: names[self.forest.segments[index].first_seq] for index in heads}
            inserted += [self._inserted(entries[index], entries[main], at) for index in dead]
            if len(branches) > 1:
                ids = [entries[index].entry_id for index in branches]
                flags = {
                    "fork_at_seq": at, "branch_heads": ids, "branch_lengths": [longest[index] for index in branches],
                }  # fmt: skip
                forks.append(_finding("hash_forked_chain", flags, ids))
        return forks, inserted

    def _inserted(self, entry: Place, following: Place, after_seq: int) -> Finding:
        flags = {
            "seq": entry.seq, "entry_id": entry.entry_id, "prev_hash": entry.prev_hash,
            "next_expected": following.entry_id, "after_seq": after_seq,
        }  # fmt: skip
        return _finding("hash_inserted_row", flags, [entry.entry_id])

    def _names(self, seqs: Iterable[int]) -> list[str]:
        places = self.rows.places(seqs)
        return [places[seq].entry_id for seq in sorted(places)]


def _finding(check: str, flags: Mapping[str, Any], names: Iterable[str], severity: Any = "critical") -> Finding:
    return Finding(check, severity, flags, tuple(names))
