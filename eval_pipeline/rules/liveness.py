"""Every expectation is live: a leaf of ``expected`` whose change moves no score is one that nobody reads.

The stored outputs of a passed example are scored again, without a model call, with one leaf of ``expected`` changed at
a time, to several alternatives: other values of its type, values out of range, values that the outputs hold, absent.
One that moves a score is enough. A leaf that none of them moves is an offence, whatever the evaluators declare that
they read, unless the example says in ``dead_on_purpose`` why it is so.

Two things are not taken for a moved score: a score that is gone because its evaluator no longer applies (the absence of
a key that it ``reads`` shows nothing about the value), and an evaluator that raises. Keys that a judged evaluator reads
are exempt: asking it again is a model call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval_pipeline.dataset import Example
from eval_pipeline.evaluator import Evaluator, applying, grade
from eval_pipeline.json_parts import ABSENT, Path, dotted, leaves, with_leaf
from eval_pipeline.outcome import Outcome
from eval_pipeline.rules.alternatives import alternatives, of_outputs, sample_of
from eval_pipeline.rules.rule import Offence
from eval_pipeline.suite import AgentSuite

RULE = "every_expectation_is_live"
WHY = "an expectation whose change moves no score is one that nobody reads, however loudly an evaluator declares it"

Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of ``expected`` by its dotted path, and whether a change of it moves a score."""

    path: str
    is_live: bool


def live_leaves(evaluators: Sequence[Evaluator], example: Example, outputs: Mapping[str, Any]) -> Iterator[Leaf]:
    """Every leaf of ``expected`` that is not exempt, in its order, scored against these outputs."""
    expected = example.expected
    found: Sequence[Any] | None = None
    for key in expected:
        readers = [item for item in applying(evaluators, expected) if key in item.reads | item.may_read]
        if any(score.judged for item in readers for score in item.scores.values()):
            continue
        probe = _Probe(readers, expected, outputs, key)
        for path, value in leaves(expected[key]):
            is_live = any(probe.moves(path, other) for other in alternatives(value))
            if not is_live:
                found = sample_of(outputs) if found is None else found
                is_live = any(probe.moves(path, other) for other in of_outputs(value, found))
            yield Leaf(dotted((key, *path)), is_live)


class _Probe:
    """The evaluators that read one top-level key, with what they score as it stands."""

    def __init__(
        self, readers: Sequence[Evaluator], expected: Mapping[str, Any], outputs: Mapping[str, Any], key: str
    ) -> None:
        self._readers, self._outputs, self._key = tuple(readers), outputs, key
        named = {name for item in readers for name in item.reads | item.may_read}
        self._expected = {name: value for name, value in expected.items() if name in named}
        self._before = self._scores(self._expected)

    def moves(self, path: Path, alternative: object) -> bool:
        """Whether a score has another value when the leaf at ``path`` (under the key) is ``alternative``."""
        changed = dict(self._expected)
        changed[self._key] = with_leaf(changed[self._key], path, alternative)
        if changed[self._key] is ABSENT:
            del changed[self._key]
        after = self._scores(changed)
        return any(after.get(name, value) != value for name, value in self._before.items())

    def _scores(self, expected: Mapping[str, Any]) -> Scores:
        return {score.key: score.value for score in grade(self._readers, self._outputs, expected).scores}


def dead_expectations(suite: AgentSuite, passed: Iterable[tuple[Example, Mapping[str, Any]]]) -> Iterator[Offence]:
    """The dead leaves of examples that passed with these outputs, by file, example and dotted path.

    A path of ``dead_on_purpose`` that is live after all is an offence too: an excuse must not outlive its reason.
    """
    for example, outputs in passed:
        found = list(live_leaves(suite.evaluators, example, outputs))
        excused = example.dead_on_purpose
        for leaf in found:
            if not leaf.is_live and not any(_lies_under(leaf.path, path) for path in excused):
                yield _offence(suite, example, leaf.path, "no change of this expectation moves a score")
        for path in excused:
            under = [leaf for leaf in found if _lies_under(leaf.path, path)]
            if all(leaf.is_live for leaf in under):
                yield _offence(suite, example, path, "is in dead_on_purpose and a change of it moves a score")


def passed_examples(
    suite: AgentSuite, stored: Iterable[Outcome], passed: frozenset[str]
) -> Iterator[tuple[Example, Mapping[str, Any]]]:
    """The examples whose ids are in ``passed`` with the outputs of their first trial, from stored outcomes."""
    seen: set[str] = set()
    for outcome in stored:
        example = suite.dataset.by_id.get(outcome.example_id)
        if outcome.example_id in passed - seen and example is not None and outcome.outputs is not None:
            seen.add(outcome.example_id)
            yield example, outcome.outputs


def _lies_under(path: str, ancestor: str) -> bool:
    return path == ancestor or path.startswith(f"{ancestor}.")


def _offence(suite: AgentSuite, example: Example, path: str, told: str) -> Offence:
    return Offence(RULE, suite.name, told, suite.dataset.sources[example.id], example.id, f"expected.{path}")
