"""The catalogue of checks (checks/catalogue.json): what each one means, its parameters, and what it needs to know.

``needs`` names the records (tables of the schema subledger) without which a check cannot be run. The work of a check
is checks/<id>.sql, but for the family hash_chain.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CHECKS = Path(__file__).with_name("checks")
CHAIN = "hash_chain"


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``explanation`` is a sentence with flag fields in braces; ``statement`` is empty in the family of the
    chain.
    """

    id: str
    family: str
    title: str
    parameters: Mapping[str, Any]
    flag_fields: tuple[str, ...]
    needs: tuple[str, ...]
    explanation: str
    statement: str


@cache
def catalogue() -> tuple[Check, ...]:
    """All checks in the order of the catalogue."""
    content = json.loads((CHECKS / "catalogue.json").read_text("utf-8"))
    return tuple(
        Check(
            row["id"], row["family"], row["title"], row["parameters"], tuple(row["flag_fields"]), tuple(row["needs"]),
            row["explanation"],
            "" if row["family"] == CHAIN else (CHECKS / f"{row['id']}.sql").read_text("utf-8"),
        )
        for row in content["checks"]
    )  # fmt: skip


@cache
def families() -> tuple[str, ...]:
    """The families in the order of the catalogue."""
    return tuple(dict.fromkeys(check.family for check in catalogue()))


def materiality_floor(scale: int) -> str:
    """The least default materiality in a currency of so many decimals."""
    return {0: "100000", 3: "300.000"}.get(scale, "1000.00")
