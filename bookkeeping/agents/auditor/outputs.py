"""What the Auditor hands back: plain JSON values, amounts as strings at the scale of the book currency."""

from typing import Any, Literal, TypedDict

Severity = Literal["critical", "high", "medium", "low"]
ChainStatus = Literal["intact", "broken", "empty"]


class ReportedFinding(TypedDict):
    """One thing that was found; ``flag_fields`` has every flag field of the check, null where it cannot be known."""

    check: str
    family: str
    severity: Severity
    title: str
    flag_fields: dict[str, Any]
    voucher_ids: list[str]
    explanation: str


class AuditorOutputs(TypedDict):
    """The result of one audit.

    chain_status: intact; broken (a check of the hash chain has a finding); empty (no entry, and none is missed).
    first_broken_height: the lowest position from which the chain cannot be relied on, null where there is none.
    n_entries: entries of the book.
    findings: by severity, then in the order of the catalogue of checks.
    n_findings: how many.
    severities: the highest severity found by each check that ran; "none" where it found nothing.
    not_run: by check, why it was not run. A check is in severities or in not_run, never in both.
    cannot_exclude: what this audit could not have seen, a sentence each.
    materiality: in book currency.
    """

    chain_status: ChainStatus
    first_broken_height: int | None
    n_entries: int
    findings: list[ReportedFinding]
    n_findings: int
    severities: dict[str, str]
    not_run: dict[str, str]
    cannot_exclude: list[str]
    materiality: str
