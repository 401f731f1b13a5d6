"""Evaluators: what they declare, when they apply, and the one boundary where what they return becomes a score.

    @evaluator(reads={"doc_type"}, scores={"doc_type_correct"})
    def doc_type(outputs, expected):
        yield Score("doc_type_correct", exact(outputs.get("doc_type"), expected["doc_type"]))

An evaluator applies when *all* of ``reads`` are in the example's ``expected``; that depends on ``expected`` alone,
never on what came out. It is handed copies: of the outputs, and of the keys that it reads or may read, and of no
others. What it returns is not trusted: an exception, a key that it did not declare, a value that is not a finite
number in [0, 1], a key scored twice, or silence becomes a problem, and a problem is an ERROR of the example, never a
missing number.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any

from eval_pipeline.errors import ConfigError, one_line
from eval_pipeline.registry import AgentEntry
from eval_pipeline.values import copy_json, same
from eval_pipeline.verdict import Score

Grade = Callable[[Any, Any], Iterable[Score]]


@dataclass(frozen=True, slots=True)
class ScoreKey:
    """A score key with its properties; a plain string stands for one with the defaults.

    ``excusable=False``: no marker may name it. ``judged=True``: a model decides it (only the allowed one may be).
    """

    name: str
    excusable: bool = True
    judged: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Evaluator:
    """A grading function with what it declares. Made by ``@evaluator``; equal to itself only, so it can be hashed."""

    name: str
    grade: Grade
    reads: frozenset[str]
    may_read: frozenset[str]
    scores: Mapping[str, ScoreKey]

    def applies(self, expected: Mapping[str, Any]) -> bool:
        """Whether all keys that it reads are expected of the example."""
        return self.reads <= expected.keys()


@dataclass(frozen=True, slots=True)
class Grading:
    """What the evaluators made of one trial: scores in the order of the evaluators, and every problem as a sentence."""

    scores: tuple[Score, ...]
    problems: tuple[str, ...]


def evaluator(
    *, reads: Iterable[str], scores: Iterable[str | ScoreKey], may_read: Iterable[str] = ()
) -> Callable[[Grade], Evaluator]:
    """Declares an evaluator. Raises ConfigError when it reads nothing or scores nothing."""

    def declare(grade: Grade) -> Evaluator:
        name = str(getattr(grade, "__name__", grade))
        keys = [key if isinstance(key, ScoreKey) else ScoreKey(key) for key in scores]
        declared = Evaluator(name, grade, frozenset(reads), frozenset(may_read), {key.name: key for key in keys})
        if not declared.reads or not declared.scores:
            raise ConfigError(f"evaluator {name}: it must read at least one expected key and score at least one")
        if inspect.iscoroutinefunction(grade):
            raise ConfigError(f"evaluator {name}: an evaluator is a plain function, not a coroutine")
        return declared

    return declare


def exact(actual: object, wanted: object) -> float:
    """1.0 when value and type are the same, else 0.0."""
    return 1.0 if same(actual, wanted) else 0.0


def load_evaluators(entry: AgentEntry) -> tuple[Evaluator, ...]:
    """The evaluators of an agent, in the order of its module. Raises ConfigError when there is none."""
    module = import_module(entry.evaluators)
    found = tuple(value for value in vars(module).values() if isinstance(value, Evaluator))
    if not found:
        raise ConfigError(f"{entry.evaluators} defines no evaluator")
    return found


def applying(evaluators: Sequence[Evaluator], expected: Mapping[str, Any]) -> tuple[Evaluator, ...]:
    """Those that apply to an example that expects these keys."""
    return _applying(tuple(evaluators), frozenset(expected))


@lru_cache(maxsize=4096)
def _applying(evaluators: tuple[Evaluator, ...], keys: frozenset[str]) -> tuple[Evaluator, ...]:
    return tuple(item for item in evaluators if item.reads <= keys)


def grade(evaluators: Sequence[Evaluator], outputs: Mapping[str, Any], expected: Mapping[str, Any]) -> Grading:
    """Scores one trial's outputs. Never raises for what an evaluator does: that becomes a problem."""
    scores: list[Score] = []
    problems: list[str] = []
    for item in applying(evaluators, expected):
        given = {key: copy_json(expected[key]) for key in item.reads | item.may_read if key in expected}
        try:
            # One more than it may score: enough to see what is wrong, and an end for a generator that has none.
            returned = list(islice(item.grade(copy_json(outputs), given), len(item.scores) + 1))
            problem = _problem(item, returned, scores)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an evaluator may raise anything, SystemExit too; it becomes an ERROR
            problem = f"raised {one_line(error)}"
        if problem is not None:
            problems.append(f"evaluator {item.name} {problem}")
        else:
            scores.extend(map(_plain, returned))
    return Grading(tuple(scores), tuple(problems))


def _plain(score: Score) -> Score:
    """The score with a float and a bool in it, whatever an evaluator took for them."""
    if type(score) is Score and type(score.value) is float and type(score.unanswered) is bool:
        return score
    return Score(score.key, float(score.value), score.comment, bool(score.unanswered))


def _problem(item: Evaluator, returned: list[Any], earlier: list[Score]) -> str | None:
    if not returned:
        return f"scored nothing although {', '.join(sorted(item.reads))} is expected"
    taken = {score.key for score in earlier}
    for score in returned:
        if not isinstance(score, Score):
            return f"returned {type(score).__name__}, not Score"
        problem = _wrong_key(item, score.key, taken) or _wrong_value(score.key, score.value, score.comment)
        if problem is None and score.unanswered and score.value != 0:
            problem = f"scored {score.key} with {score.value!r} although its judge was not there"
        if problem is not None:
            return problem
        taken.add(score.key)
    return None


def _wrong_key(item: Evaluator, key: object, taken: set[str]) -> str | None:
    if not isinstance(key, str) or key not in item.scores:
        return f"scored {key!r}, which it does not declare"
    return f"scored {key!r}, which is scored already" if key in taken else None


def _wrong_value(key: str, value: object, comment: object) -> str | None:
    """Only int and float are numbers here: of others one just below 1 would become 1.0 when it is made a float."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        return f"scored {key} with {value!r}, which is not a finite number in [0, 1]"
    if comment is not None and not isinstance(comment, str):
        return f"scored {key} with a comment that is {type(comment).__name__}, not text"
    return None
