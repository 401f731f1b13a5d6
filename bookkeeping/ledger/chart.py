"""The chart of accounts (chart.json): what every book can post to."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Account:
    """One account of the chart. `normal_balance` is the side on which it usually stands."""

    code: str
    name: str
    type: Literal["asset", "liability", "equity", "revenue", "expense"]
    normal_balance: Literal["debit", "credit"]


@cache
def standard_chart() -> tuple[Account, ...]:
    """The accounts of chart.json, in its order."""
    return tuple(Account(**row) for row in json.loads(Path(__file__).with_name("chart.json").read_text("utf-8")))


@cache
def chart_digest() -> str:
    """SHA-256 of the chart's content: the name under which the database keeps it.

    A changed chart.json is another chart; books that exist keep theirs.
    """
    rows = [[a.code, a.name, a.type, a.normal_balance] for a in standard_chart()]
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()
