"""Last step: what is handed back."""

from collections.abc import Iterable

from bookkeeping.agents.auditor.book import AuditedBook
from bookkeeping.agents.auditor.catalogue import Check
from bookkeeping.agents.auditor.finding import SEVERITIES, ChainResult, Examined, Finding, json_value
from bookkeeping.agents.auditor.outputs import AuditorOutputs, ChainStatus, ReportedFinding, Severity


def report(
    book: AuditedBook, checks: Iterable[Check], chain: ChainResult, examined: Iterable[Examined],
    findings: tuple[Finding, ...],
) -> AuditorOutputs:  # fmt: skip
    """The outputs of an audit with these rated findings."""
    by_id = {check.id: check for check in checks}
    families = list(examined)
    ran = [check for family in families for check in family.ran]
    not_run = {check: reason for family in families for check, reason in family.not_run.items()}
    worst: dict[str, Severity] = {}
    for finding in findings:
        known = worst.get(finding.check, finding.severity)
        worst[finding.check] = min(known, finding.severity, key=SEVERITIES.index)
    reported = [_reported(by_id[finding.check], finding) for finding in findings]
    return AuditorOutputs(
        chain_status=_status(chain, reported),
        first_broken_height=chain.first_broken_height,
        n_entries=chain.n_entries,
        findings=reported,
        n_findings=len(reported),
        severities={check: worst.get(check, "none") for check in by_id if check in ran},
        not_run={check: not_run[check] for check in by_id if check in not_run},
        cannot_exclude=list(chain.cannot_exclude),
        materiality=f"{book.materiality:f}",
    )


def _status(chain: ChainResult, reported: list[ReportedFinding]) -> ChainStatus:
    if any(finding["family"] == "hash_chain" for finding in reported):
        return "broken"
    return "intact" if chain.n_entries else "empty"


def _reported(check: Check, finding: Finding) -> ReportedFinding:
    flags = {name: json_value(finding.flags[name]) for name in check.flag_fields}
    told = {name: _told(value) for name, value in flags.items()}
    return ReportedFinding(
        check=check.id,
        family=check.family,
        severity=finding.severity,
        title=check.title,
        flag_fields=flags,
        voucher_ids=list(finding.voucher_ids),
        explanation=check.explanation.format_map(told),
    )


def _told(value: object) -> str:
    if value is None:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
