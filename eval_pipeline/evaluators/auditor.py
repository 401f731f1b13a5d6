"""How the Auditor is graded: exact comparisons of what it reports with what was done to the book."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from bookkeeping.agents.auditor.outputs import AuditorOutputs
from eval_pipeline.evaluator import evaluator, exact
from eval_pipeline.rules.rule import Offence, static_rule
from eval_pipeline.suite import AgentSuite
from eval_pipeline.verdict import Score

Expected = Mapping[str, Any]
Identity = tuple[str, ...]
MIN_TRUE_FINDINGS = 2
MIN_NEAR_MISSES = 1
NEAR_MISS = "near miss: "
"""The beginning of the tag of an example in which a check has to stay silent; the check's name follows."""


def _told(actual: object, wanted: object) -> str | None:
    return None if exact(actual, wanted) else f"{actual!r}, expected {wanted!r}"


@evaluator(reads={"chain_status"}, scores={"chain_status_correct"})
def chain_status(outputs: AuditorOutputs, expected: Expected) -> Iterable[Score]:
    """Intact, broken or empty."""
    actual, wanted = outputs.get("chain_status"), expected["chain_status"]
    yield Score("chain_status_correct", exact(actual, wanted), _told(actual, wanted))


@evaluator(reads={"first_broken_height"}, scores={"first_broken_height_correct"})
def first_broken_height(outputs: AuditorOutputs, expected: Expected) -> Iterable[Score]:
    """The position from which the chain cannot be relied on."""
    actual, wanted = outputs.get("first_broken_height"), expected["first_broken_height"]
    yield Score("first_broken_height_correct", exact(actual, wanted), _told(actual, wanted))


@evaluator(reads={"findings"}, scores={"findings_correct", "flag_fields_correct"})
def findings(outputs: AuditorOutputs, expected: Expected) -> Iterable[Score]:
    """What was found, whatever the order: family, check, severity and entries; then the flag fields that are expected.

    An expected finding without ``flag_fields`` leaves them open. Every expected finding has one of its own.
    """
    actual: Any = outputs.get("findings")
    if not isinstance(actual, list):
        yield Score("findings_correct", 0.0, f"no findings but {actual!r}")
        yield Score("flag_fields_correct", 0.0, f"no findings but {actual!r}")
        return
    found = Counter(_identity(item, "voucher_ids") for item in actual)
    wanted = Counter(_identity(item, "entries") for item in expected["findings"])
    told = _differences("not expected", found - wanted) + _differences("not found", wanted - found)
    yield Score("findings_correct", exact(told, []), "; ".join(told) or None)
    unmatched = list(actual)
    left = [item for item in expected["findings"] if "flag_fields" in item and not _takes_one(item, unmatched)]
    names = ", ".join(f"{item.get('check')} {item['flag_fields']!r}" for item in left)
    yield Score("flag_fields_correct", exact(left, []), f"no finding with {names}" if left else None)


def _identity(finding: object, entries: str) -> Identity:
    """Family, check, severity and entries; of what is no finding only what it is."""
    if not isinstance(finding, Mapping):
        return ("", repr(finding), "")
    named = finding.get(entries)
    entry_names = [repr(item) for item in named] if isinstance(named, list) else [repr(named)]
    return (str(finding.get("family")), str(finding.get("check")), str(finding.get("severity")), *entry_names)


def _differences(word: str, identities: Counter[Identity]) -> list[str]:
    return [f"{word}: {family} {check} {severity} {' '.join(names)}" for family, check, severity, *names in identities]


def _takes_one(wanted: Mapping[str, Any], left: list[Any]) -> bool:
    """Takes the finding that an expected one describes out of ``left``; whether there was one."""
    flags = wanted["flag_fields"]
    for place, finding in enumerate(left):
        if _identity(finding, "voucher_ids") == _identity(wanted, "entries") and _has(finding["flag_fields"], flags):
            del left[place]
            return True
    return False


def _has(actual: object, flags: object) -> bool:
    if not isinstance(actual, Mapping) or not isinstance(flags, Mapping):
        return False
    return all(name in actual and exact(actual[name], value) == 1.0 for name, value in flags.items())


@evaluator(reads={"n_findings"}, scores={"n_findings_correct"})
def n_findings(outputs: AuditorOutputs, expected: Expected) -> Iterable[Score]:
    """How many findings there are."""
    actual, wanted = outputs.get("n_findings"), expected["n_findings"]
    yield Score("n_findings_correct", exact(actual, wanted), _told(actual, wanted))


@evaluator(reads={"not_run"}, scores={"not_run_correct"})
def not_run(outputs: AuditorOutputs, expected: Expected) -> Iterable[Score]:
    """Which checks were not run: each of them is without a verdict, and every other one has one."""
    actual, wanted = outputs.get("not_run"), expected["not_run"]
    names = sorted(actual) if isinstance(actual, dict) else actual
    yield Score("not_run_correct", exact(names, sorted(wanted)), _told(names, sorted(wanted)))


@evaluator(reads={"severities"}, scores={"severities_correct"})
def severities(outputs: AuditorOutputs, expected: Expected) -> Iterable[Score]:
    """The highest severity of the checks that are expected by name; null is a check that has no verdict."""
    told: Any = outputs.get("severities")
    wanted = expected["severities"]
    actual = {name: told.get(name) for name in wanted} if isinstance(told, dict) else told
    yield Score("severities_correct", exact(actual, wanted), _told(actual, wanted))


@evaluator(reads={"cannot_exclude"}, scores={"cannot_exclude_correct"})
def cannot_exclude(outputs: AuditorOutputs, expected: Expected) -> Iterable[Score]:
    """How many things the report says that it could not have seen."""
    told = outputs.get("cannot_exclude")
    actual = len(told) if isinstance(told, list) else told
    wanted = expected["cannot_exclude"]
    yield Score("cannot_exclude_correct", exact(actual, wanted), _told(actual, wanted))


@evaluator(reads={"materiality"}, scores={"materiality_correct"})
def materiality(outputs: AuditorOutputs, expected: Expected) -> Iterable[Score]:
    """The amount above which something is material."""
    actual, wanted = outputs.get("materiality"), expected["materiality"]
    yield Score("materiality_correct", exact(actual, wanted), _told(actual, wanted))


@static_rule("expected_findings_are_counted", "a count that contradicts the list can only be met by a wrong report")
def expected_findings_are_counted(suite: AgentSuite) -> Iterable[Offence]:
    """Where findings and their number are both expected, the number is that of the list."""
    for example in suite.dataset.examples:
        listed, counted = example.expected.get("findings"), example.expected.get("n_findings")
        if listed is not None and counted is not None and len(listed) != counted:
            told = f"{len(listed)} findings are listed, {counted} are counted"
            source = suite.dataset.sources[example.id]
            yield Offence("expected_findings_are_counted", suite.name, told, source, example.id, "n_findings")


@static_rule("every_check_has_examples", "a check that no example puts to the test may be wrong unseen")
def every_check_has_examples(suite: AgentSuite) -> Iterable[Offence]:
    """Every check of the catalogue has two true findings and one near miss at least. Not asked of a pack."""
    from bookkeeping.agents.auditor.catalogue import catalogue

    if suite.pack is not None:
        return
    found = Counter(
        item["check"] for example in suite.dataset.examples for item in example.expected.get("findings", ())
    )
    tags = Counter(tag for example in suite.dataset.examples for tag in example.tags)
    for check in catalogue():
        n_true, n_near = found[check.id], tags[NEAR_MISS + check.id]
        if n_true < MIN_TRUE_FINDINGS or n_near < MIN_NEAR_MISSES:
            told = f"{check.id} has {n_true} expected findings and {n_near} near misses"
            yield Offence("every_check_has_examples", suite.name, told)
