"""What a trial's scores mean: one verdict for each example, decided by pure functions on frozen values.

The first line of this table that holds is the verdict of one trial:

    ERROR   the target raised, ran out of time or was refused; an evaluator raised or scored out of range; nothing was
            scored; a marker names a key that nothing scored here. No marker ever excuses an error.
    FAIL    a score below 1.0 that no marker excuses
    XPASS   a marker that is not intermittent names a key that scored 1.0
    XFAIL   every score below 1.0 is excused
    PASS    every score is 1.0

SKIP is decided before the target starts and never reaches these functions with a score.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from eval_pipeline.dataset import KnownDefect
from eval_pipeline.values import same

PERFECT = 1.0


class Verdict(StrEnum):
    """The verdict of one example, in the order in which the board counts them."""

    PASS = "PASS"  # noqa: S105  (a verdict, not a password)
    FAIL = "FAIL"
    ERROR = "ERROR"
    XFAIL = "XFAIL"
    XPASS = "XPASS"
    SKIP = "SKIP"

    @property
    def is_red(self) -> bool:
        """Whether one such verdict turns its agent's board red."""
        return self in (Verdict.FAIL, Verdict.ERROR, Verdict.XPASS)


@dataclass(frozen=True, slots=True)
class Score:
    """What an evaluator says of one key: a value in [0, 1] and, where it helps, a sentence.

    ``unanswered`` is set by a judge that was not there: such a 0.0 is counted apart and no marker excuses it.
    """

    key: str
    value: float
    comment: str | None = None
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial as the verdict sees it: its scores, or what went wrong.

    ``outputs`` are the outputs of the target, needed for ``only_when``; None when there are none.
    ``error`` is the first thing that went wrong, None when nothing did.
    """

    scores: tuple[Score, ...] = ()
    outputs: Mapping[str, Any] | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Excused:
    """A key below 1.0 that a marker excuses, with the marker's reason."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict of one example and why.

    ``failed`` are keys below 1.0 that nothing excuses, ``xpass`` keys whose recorded defect appears fixed (also told
    beside a FAIL), ``unanswered`` keys whose judge was not there, ``hints`` sentences for whoever keeps the markers.
    ``n_passed`` of ``n_trials`` trials had every score at 1.0.
    """

    verdict: Verdict
    reason: str = ""
    failed: tuple[str, ...] = ()
    excused: tuple[Excused, ...] = ()
    xpass: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    n_trials: int = 1
    n_passed: int = 0


def excuses(marker: KnownDefect, key: str, outputs: Mapping[str, Any]) -> bool:
    """Whether ``marker`` excuses ``key`` on a turn with these outputs: it names the key, in its situation."""
    if key not in marker.keys:
        return False
    situation = marker.only_when or {}
    return all(name in outputs and same(outputs[name], value) for name, value in situation.items())


def decide(trials: Sequence[Trial], markers: Sequence[KnownDefect] = ()) -> Decision:
    """The verdict of an example over all its trials; one trial is the usual case.

    The worst trial decides among ERROR, FAIL, XFAIL and PASS. XPASS is decided once over all trials: the key passed in
    every one of them. Raises ValueError when there is no trial: an example that did not run has no verdict here.
    """
    if not trials:
        raise ValueError("an example without a trial has no verdict")
    decisions = [_decide_trial(trial, markers) for trial in trials]
    if len(decisions) == 1 and not markers:
        return decisions[0]
    worst = min(decisions, key=lambda decision: _WORST_FIRST.index(decision.verdict))
    passed = sum(decision.verdict is Verdict.PASS for decision in decisions)
    if worst.verdict is Verdict.ERROR:
        return replace(worst, n_trials=len(trials), n_passed=passed)
    xpass = tuple(key for key in _recorded(markers) if all(_value(trial, key) == PERFECT for trial in trials))
    flaky = tuple(key for key in _recorded(markers) if key not in xpass and _passed_somewhere(trials, key))
    hints = tuple(f"{key} passed in some trials: its known defect is intermittent" for key in flaky)
    verdict, reason = worst.verdict, worst.reason
    if xpass:
        told = f"the defect that this baseline recorded appears fixed: {', '.join(xpass)}"
        reason = f"{reason}; {told}" if verdict is Verdict.FAIL else told
        verdict = Verdict.FAIL if verdict is Verdict.FAIL else Verdict.XPASS
    return Decision(
        verdict,
        reason,
        failed=worst.failed,
        excused=worst.excused,
        xpass=xpass,
        unanswered=_union(decision.unanswered for decision in decisions),
        hints=hints,
        n_trials=len(trials),
        n_passed=passed,
    )


_WORST_FIRST = (Verdict.ERROR, Verdict.FAIL, Verdict.XFAIL, Verdict.PASS)


def _decide_trial(trial: Trial, markers: Sequence[KnownDefect]) -> Decision:
    """ERROR, FAIL, XFAIL or PASS of one trial; XPASS is not a matter of one trial."""
    problem = _problem(trial, markers)
    if problem is not None:
        return Decision(Verdict.ERROR, problem)
    below = [score for score in trial.scores if score.value < PERFECT]
    excused: list[Excused] = []
    failed: list[str] = []
    for score in below:
        marker = _excusing(score, markers, trial.outputs or {})
        if marker is None:
            failed.append(score.key)
        else:
            excused.append(Excused(score.key, marker.reason))
    unanswered = tuple(score.key for score in below if score.unanswered)
    if failed:
        reason = _below(trial.scores, failed)
        return Decision(Verdict.FAIL, reason, tuple(failed), tuple(excused), unanswered=unanswered)
    if excused:
        reasons = "; ".join(dict.fromkeys(item.reason for item in excused))
        return Decision(Verdict.XFAIL, reasons, excused=tuple(excused))
    return _PASSED


_PASSED = Decision(Verdict.PASS, n_passed=1)


def _problem(trial: Trial, markers: Sequence[KnownDefect]) -> str | None:
    if trial.error is not None:
        return trial.error
    if not trial.scores:
        return "ungraded: no evaluator scored this example"
    invalid = [score for score in trial.scores if not 0 <= score.value <= PERFECT]
    if invalid:
        return f"the score of {invalid[0].key} is {invalid[0].value}, which is not in [0, 1]"
    if not markers:
        return None
    scored = {score.key for score in trial.scores}
    unscored = sorted({key for marker in markers for key in marker.keys} - scored)
    if unscored:
        return f"a known defect names what nothing scored here: {', '.join(unscored)}"
    return None


def _excusing(score: Score, markers: Sequence[KnownDefect], outputs: Mapping[str, Any]) -> KnownDefect | None:
    if score.unanswered:
        return None
    return next((marker for marker in markers if excuses(marker, score.key, outputs)), None)


def _below(scores: Sequence[Score], failed: Sequence[str]) -> str:
    parts = []
    for score in scores:
        if score.key in failed:
            comment = f" ({score.comment})" if score.comment else ""
            parts.append(f"{score.key} {score.value:.4g}{comment}")
    return "; ".join(parts)


def _recorded(markers: Sequence[KnownDefect]) -> tuple[str, ...]:
    """The keys that some deterministic marker names."""
    return tuple(dict.fromkeys(key for marker in markers if not marker.intermittent for key in marker.keys))


def _value(trial: Trial, key: str) -> float | None:
    return next((score.value for score in trial.scores if score.key == key), None)


def _passed_somewhere(trials: Sequence[Trial], key: str) -> bool:
    return any(_value(trial, key) == PERFECT for trial in trials)


def _union(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for group in groups for key in group))
