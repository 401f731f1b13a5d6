"""Every score key can fail: on outputs that are not what they were, it falls below 1.0 somewhere.

The stored outputs of passed examples are spoilt, without a model call: all of them taken away, then one leaf at a time
changed. A key that stays at 1.0 through all of it, on every example, belongs to an evaluator that always says yes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from eval_pipeline.dataset import Example
from eval_pipeline.evaluator import Evaluator, applying, grade
from eval_pipeline.json_parts import leaves, with_leaf
from eval_pipeline.rules.alternatives import alternatives
from eval_pipeline.rules.rule import Offence
from eval_pipeline.suite import AgentSuite

RULE = "every_score_can_fail"
WHY = "a score that is 1.0 whatever the agent does makes a board green about nothing"


def unfailing(suite: AgentSuite, passed: Iterable[tuple[Example, Mapping[str, Any]]]) -> Iterator[Offence]:
    """The score keys that are 1.0 on some of these passed examples and that no spoilt outputs of any of them lower.

    Keys that a model judges are left out (asking it is a call), and so are keys that no example here scores.
    """
    seen: dict[str, Evaluator] = {}
    failed: set[str] = set()
    for example, outputs in passed:
        waiting = [item for item in applying(suite.evaluators, example.expected) if _is_open(item, failed)]
        seen |= {key: item for item in waiting for key in item.scores}
        if waiting:
            failed |= keys_that_fail(waiting, example, outputs)
    for key, item in seen.items():
        if key not in failed:
            told = f"evaluator {item.name} scores 1.0 whatever the outputs are"
            yield Offence(RULE, suite.name, told, key=key)


def _is_open(item: Evaluator, failed: set[str]) -> bool:
    return not item.scores.keys() <= failed and not any(key.judged for key in item.scores.values())


def keys_that_fail(evaluators: Sequence[Evaluator], example: Example, outputs: Mapping[str, Any]) -> set[str]:
    """The keys of these evaluators that some spoilt form of ``outputs`` brings below 1.0."""
    wanted = {key for item in evaluators for key in item.scores}
    failed: set[str] = set()
    for spoilt in _spoilt(outputs):
        failed |= {score.key for score in grade(evaluators, spoilt, example.expected).scores if score.value < 1}
        if failed >= wanted:
            break
    return failed


def _spoilt(outputs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield {}
    for path, value in leaves(dict(outputs)):
        for other in alternatives(value):
            yield with_leaf(dict(outputs), path, other)
