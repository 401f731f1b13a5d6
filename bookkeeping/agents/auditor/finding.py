"""A finding, and what a family of checks hands on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from bookkeeping.agents.auditor.outputs import Severity

SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found. ``flags`` has the check's flag fields in their order, as JSON values."""

    check: str
    severity: Severity
    flags: Mapping[str, Any]
    voucher_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Examined:
    """What a family of checks came to: findings, the checks that ran, and why others did not."""

    findings: tuple[Finding, ...] = ()
    ran: tuple[str, ...] = ()
    not_run: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChainResult:
    """What verifying the chain came to, besides its findings."""

    n_entries: int
    first_broken_height: int | None
    cannot_exclude: tuple[str, ...]


def json_value(value: Any) -> Any:
    """A database value as JSON: decimals in plain notation, dates and times in ISO form. Raises TypeError."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    raise TypeError(f"a flag field may not be a {type(value).__name__}")
