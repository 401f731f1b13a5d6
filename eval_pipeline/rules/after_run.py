"""The rules about what a run left: unexpected failures, fixed defects, skips, intermittent defects not seen lately."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval_pipeline.board import ExampleBoard
from eval_pipeline.dataset import Example, KnownDefect
from eval_pipeline.results import history
from eval_pipeline.results.database import Database
from eval_pipeline.rules.rule import Offence, Severity
from eval_pipeline.suite import AgentSuite
from eval_pipeline.verdict import Decision, Verdict

NOT_SEEN_IN = 20
"""Whole runs without a sighting after which an intermittent defect is held for stale."""


@dataclass(frozen=True, slots=True)
class RunRule:
    """A rule about the verdicts of one agent; ``strict`` is its severity under strict, where that differs."""

    name: str
    why: str
    severity: Severity = Severity.ERROR
    strict: Severity = Severity.ERROR


NO_UNEXPECTED_FAILURE = RunRule("no_unexpected_failure", "no example is FAIL or ERROR")
NO_XPASS = RunRule("no_xpass", "no recorded defect appears fixed: its marker must go")
NO_SKIP = RunRule("no_skip", "nothing was skipped; an error under strict", severity=Severity.WARN)
INTERMITTENTS_ARE_SEEN = RunRule(
    "intermittents_are_seen",
    f"no intermittent defect went unseen in the last {NOT_SEEN_IN} whole runs",
    severity=Severity.WARN,
    strict=Severity.WARN,
)

RUN_RULES: tuple[RunRule, ...] = (NO_UNEXPECTED_FAILURE, NO_XPASS, NO_SKIP, INTERMITTENTS_ARE_SEEN)


def verdict_offences(examples: Iterable[ExampleBoard]) -> Iterator[Offence]:
    """Those that are red, whose defect appears fixed (also beside a FAIL), or that were skipped."""
    for item in examples:
        if item.verdict in (Verdict.FAIL, Verdict.ERROR):
            told = f"{item.verdict}: {item.reason}"
            yield Offence(NO_UNEXPECTED_FAILURE.name, item.agent, told, example=item.id, key=", ".join(item.failed))
        if item.xpass:
            told = "the defect that this baseline recorded appears fixed"
            yield Offence(NO_XPASS.name, item.agent, told, example=item.id, key=", ".join(item.xpass))
        if item.verdict is Verdict.SKIP:
            yield Offence(NO_SKIP.name, item.agent, item.reason, example=item.id)


def stale_intermittents(
    suite: AgentSuite, database: Database, model: str | None, last: int = NOT_SEEN_IN
) -> Iterator[Offence]:
    """Intermittent markers that excused nothing in the last ``last`` whole runs that graded their example.

    Only runs with the same model count; with fewer such runs nothing is said.
    """
    marked = [e for e in suite.dataset.examples if any(marker.intermittent for marker in e.known_defects)]
    if not marked:
        return
    seen = history.decisions(database, suite.name, [example.id for example in marked], model, last)
    yield from _unseen(suite, marked, seen, last)


def _unseen(
    suite: AgentSuite, marked: Iterable[Example], seen: Mapping[str, Sequence[Decision]], last: int
) -> Iterator[Offence]:
    for example in marked:
        decisions = seen.get(example.id, ())
        if len(decisions) < last:
            continue
        for marker in example.known_defects:
            if marker.intermittent and not any(_was_excused(marker, decision) for decision in decisions):
                told = f"its intermittent defect was not seen in the last {last} whole runs: {marker.reason}"
                source = suite.dataset.sources[example.id]
                keys = ", ".join(marker.keys)
                yield Offence(INTERMITTENTS_ARE_SEEN.name, suite.name, told, source, example.id, keys)


def _was_excused(marker: KnownDefect, decision: Decision) -> bool:
    return any(item.key in marker.keys and item.reason == marker.reason for item in decision.excused)
