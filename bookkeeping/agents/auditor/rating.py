"""Rating: what can be said only when all checks have run, and what the run accepts."""

from collections.abc import Iterable
from dataclasses import replace

from bookkeeping.agents.auditor.finding import SEVERITIES, Finding, json_value
from bookkeeping.agents.auditor.inputs import Exemption

JUDGED_LAST = "weekend_after_hours"
_MEDIUM_OR_MORE = SEVERITIES[:3]


def rated(findings: Iterable[Finding], exemptions: Iterable[Exemption], order: dict[str, int]) -> tuple[Finding, ...]:
    """Findings with their final severity, the accepted ones left out, the worst first.

    ``order`` is the place of a check in the catalogue; within a check the order of the check's own rows stays.
    """
    left = [finding for finding in findings if not any(_accepts(item, finding) for item in exemptions)]
    suspect = {
        voucher
        for finding in left
        if finding.check != JUDGED_LAST and finding.severity in _MEDIUM_OR_MORE
        for voucher in finding.voucher_ids
    }
    final = [
        replace(finding, severity="high")
        if finding.check == JUDGED_LAST and suspect.intersection(finding.voucher_ids)
        else finding
        for finding in left
    ]
    return tuple(sorted(final, key=lambda finding: (SEVERITIES.index(finding.severity), order[finding.check])))


def _accepts(exemption: Exemption, finding: Finding) -> bool:
    if exemption.check != finding.check:
        return False
    return exemption.flag_field in finding.flags and json_value(finding.flags[exemption.flag_field]) == exemption.value
