"""Offenders become check results: one check a rule, with a table of what broke it."""

from collections.abc import Iterable, Iterator, Sequence

import dagster as dg

from eval_pipeline.deployment import metadata
from eval_pipeline.rules import Offence, Severity
from eval_pipeline.rules.after_run import RUN_RULES


def offence_check(asset_key: dg.AssetKey, rule: str, found: Iterable[Offence]) -> dg.AssetCheckResult:
    """The check of one rule: passed when none of the offences is its own."""
    broken = [item for item in found if item.rule == rule]
    return dg.AssetCheckResult(
        check_name=rule, asset_key=asset_key, passed=not broken, metadata=metadata.offenders(broken)
    )


def told_check(asset_key: dg.AssetKey, rule: str, broken: Sequence[str]) -> dg.AssetCheckResult:
    """The check of a rule whose offenders are sentences."""
    rows = metadata.table(("what",), ((item,) for item in broken))
    return dg.AssetCheckResult(
        check_name=rule,
        asset_key=asset_key,
        passed=not broken,
        metadata={"n_offenders": len(broken), "offenders": rows},
    )


def problem_check(asset_key: dg.AssetKey, rule: str, problems: Iterable[str]) -> dg.AssetCheckResult:
    """The check of a rule whose offenders are kept as problems of the agent's row, which begin with its name."""
    return told_check(asset_key, rule, [item for item in problems if item.startswith(f"{rule}: ")])


def run_rule_specs(asset_key: dg.AssetKey) -> list[dg.AssetCheckSpec]:
    """The checks about what a run left."""
    return [dg.AssetCheckSpec(rule.name, asset=asset_key, description=rule.why) for rule in RUN_RULES]


def run_rule_checks(asset_key: dg.AssetKey, found: Sequence[Offence], *, strict: bool) -> Iterator[dg.AssetCheckResult]:
    """Their results; a rule that only warns does not turn anything red."""
    for rule in RUN_RULES:
        broken = [item for item in found if item.rule == rule.name]
        severity = rule.strict if strict else rule.severity
        yield dg.AssetCheckResult(
            check_name=rule.name,
            asset_key=asset_key,
            passed=not broken,
            severity=_SEVERITIES[severity],
            metadata=metadata.offenders(broken),
        )


_SEVERITIES = {Severity.ERROR: dg.AssetCheckSeverity.ERROR, Severity.WARN: dg.AssetCheckSeverity.WARN}
