"""``defects``: every recorded defect, whose it is, until when it is excused, and whether it is still seen."""

import json
from dataclasses import asdict, dataclass

from rich.console import Console

from eval_pipeline.errors import OK
from eval_pipeline.prerequisites import model_name
from eval_pipeline.results.database import Database
from eval_pipeline.rules.after_run import stale_intermittents
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage
from eval_pipeline.suite import load_suite
from eval_pipeline.terminal import print_json


@dataclass(frozen=True, slots=True)
class Recorded:
    """One marker as it is listed."""

    example: str
    keys: tuple[str, ...]
    reason: str
    only_when: dict[str, object] | None
    intermittent: bool
    owner: str | None
    since: str | None
    expires: str | None
    issue: str | None
    not_seen_lately: bool


def defects(out: Console, *, as_json: bool) -> int:
    """Lists the markers of all datasets; 0 always: what is wrong with one is told by ``check`` and ``run``."""
    chosen = settings()
    listed: list[Recorded] = []
    with storage(chosen) as where, Database(where.database_url) as database:
        for item in load_suite(chosen.datasets):
            stale = {(o.example, o.key) for o in stale_intermittents(item, database, model_name(chosen.model))}
            listed += [
                Recorded(
                    f"{item.name}/{example.id}",
                    marker.keys,
                    marker.reason,
                    marker.only_when,
                    marker.intermittent,
                    marker.owner,
                    str(marker.since) if marker.since else None,
                    str(marker.expires) if marker.expires else None,
                    marker.issue,
                    (example.id, ", ".join(marker.keys)) in stale,
                )
                for example in item.dataset.examples
                for marker in example.known_defects
            ]
    if as_json:
        print_json(out, [asdict(item) for item in listed])
        return OK
    for one in listed:
        _print(one, out)
    out.print(f"{len(listed)} recorded defects")
    return OK


def _print(one: Recorded, out: Console) -> None:
    notes = [
        "intermittent" if one.intermittent else None,
        "NOT SEEN LATELY" if one.not_seen_lately else None,
        f"only when {json.dumps(one.only_when)}" if one.only_when else None,
        f"owner {one.owner}" if one.owner else None,
        f"since {one.since}" if one.since else None,
        f"expires {one.expires}" if one.expires else None,
        one.issue,
    ]
    told = "; ".join(note for note in notes if note)
    line = f"{one.example}  {', '.join(one.keys)}: {one.reason}" + (f" ({told})" if told else "")
    out.print(line, markup=False, soft_wrap=True)
