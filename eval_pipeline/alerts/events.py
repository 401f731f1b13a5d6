"""What a finished night gives rise to: fixed defects first, then what is red, what is not released, what is stale.

Of a pack nothing is told but its name and counts: its documents may not leave the machine.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

SHOWN = 10
"""Examples that one alert names; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing to be told, once. ``key`` is what makes it one: the same key is never told again."""

    key: str
    kind: str
    title: str
    body: str


def of_board(board: Mapping[str, Any], budget_usd: Decimal | None, red_since: str | None) -> Iterator[Event]:
    """The events of a board (as ``board --json`` has it): once for its root run, however often that is resumed.

    What a resume has changed is another event. ``red_since`` is when the board was last green, in words, None when it
    is not known.
    """
    run_id, state = board["run_id"], board["state"]
    fixed = [item for item in board["examples"] if item["xpass"]]
    if fixed:
        title = f"{len(fixed)} recorded defects appear fixed: take their markers away"
        body = _told(fixed, lambda item: f"{item['agent']}/{item['id']}: {', '.join(item['xpass'])}", run_id)
        yield Event(_key(run_id, "xpass", body), "xpass", title, body)
    if state == "RED":
        red = [item for item in board["examples"] if item["verdict"] in ("FAIL", "ERROR")]
        rows = [row["agent"] for row in board["agents"] if row["state"] == "RED"]
        since = f"; red since {red_since}" if red_since else ""
        problems = [f"{row['agent']}: {told}" for row in board["agents"] for told in row.get("problems", ())]
        body = _told(red, lambda item: f"[{item['verdict']}] {item['agent']}/{item['id']}: {item['reason']}", run_id)
        body = "\n".join([*problems, body])
        yield Event(_key(run_id, "red", body), "red", f"the board is RED: {', '.join(rows)}{since}", body)
    spent = sum((Decimal(row["usage"]["cost_usd"]) for row in board["agents"]), Decimal(0))
    if budget_usd is not None and spent > budget_usd:
        title = f"the night cost {spent:.2f} US dollars, more than its budget of {budget_usd:.2f}"
        yield Event(f"{run_id}:budget", "budget", title, f"run {run_id}")


def not_released(run_id: str, reasons: Sequence[str]) -> Event:
    """The gate did not open."""
    body = "\n".join([*reasons, f"run {run_id}"])
    return Event(_key(run_id, "gate", body), "gate", "not released", body)


def stale(run_id: str, told: Sequence[str]) -> Event:
    """Intermittent defects that were not seen for long."""
    title = f"{len(told)} intermittent defects were not seen lately: are they fixed?"
    body = "\n".join([*told[:SHOWN], f"run {run_id}"])
    return Event(_key(run_id, "stale", body), "stale", title, body)


def no_board(night: str, status: str) -> Event:
    """A night ended without a board."""
    return Event(f"{night}:no_board", "no_board", f"the night {night} ended {status} without a board", "")


def did_not_run(due: str, reason: str) -> Event:
    """A night that was due and did not begin."""
    return Event(f"{due}:did_not_run", "did_not_run", f"the night of {due} did not run", reason)


def not_evaluated(night: str, checks: Sequence[str]) -> Event:
    """Checks that were planned and left no answer: the worst kind of pass."""
    title = f"{len(checks)} checks were planned and not evaluated"
    return Event(f"{night}:not_evaluated", "not_evaluated", title, "\n".join(checks))


def _key(run_id: str, kind: str, body: str) -> str:
    return f"{run_id}:{kind}:{hashlib.sha256(body.encode()).hexdigest()[:12]}"


def _told(examples: Sequence[Mapping[str, Any]], line: Callable[[Mapping[str, Any]], str], run_id: str) -> str:
    listed = [item for item in examples if "@" not in item["agent"]]
    packed = Counter(item["agent"] for item in examples if "@" in item["agent"])
    lines = [line(item) for item in listed[:SHOWN]]
    if len(listed) > SHOWN:
        lines.append(f"and {len(listed) - SHOWN} more")
    lines.extend(f"{name}: {count} in this pack" for name, count in sorted(packed.items()))
    return "\n".join([*lines, f"run {run_id}"])
