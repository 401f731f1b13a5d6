"""`postgres.json` beside the data: what the supervisor of this home says about its server."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from eval_pipeline.postgres.locks import give_to_owner_of_folder

NAME = "postgres.json"


@dataclass(frozen=True, slots=True)
class Record:
    """Where a home's server keeps its things. The places stay true between runs, `ready` only while it serves."""

    home: Path
    data: Path
    sockets: Path
    supervisor: int = 0
    ready: bool = False


def read(home: Path) -> Record | None:
    """Returns the record of a home, or None when there is none that can be read (it is written anew then)."""
    try:
        fields = json.loads((home / NAME).read_text(encoding="utf-8"))
        return Record(
            home=Path(fields["home"]),
            data=Path(fields["data"]),
            sockets=Path(fields["sockets"]),
            supervisor=int(fields["supervisor"]),
            ready=bool(fields["ready"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(record: Record) -> None:
    """Replaces the record as a whole: a reader never sees half of it."""
    fields = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(record).items()}
    building = record.home / f"{NAME}.building"
    building.unlink(missing_ok=True)
    fd = os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    give_to_owner_of_folder(fd, building)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump(fields, file)
    building.replace(record.home / NAME)


def retire(record: Record) -> None:
    """Says that the server no longer serves; its places stay known."""
    write(replace(record, ready=False, supervisor=0))
