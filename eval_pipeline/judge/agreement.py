"""How far a judge agrees with people: Cohen's kappa over the calibration set.

``calibration.json`` has replies with criteria, and for each what a person who read it decided.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt

from eval_pipeline.judge.judge import Judge
from eval_pipeline.judge.verdicts import Judgement
from eval_pipeline.statistics import Z95


@dataclass(frozen=True, slots=True)
class Calibrated:
    """One reply with its criteria, and whether each holds by a person's reading."""

    id: str
    reply: str
    rubric: tuple[str, ...]
    holds: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over criteria: how many were compared, how often both said the same, kappa and its 95 % interval.

    ``kappa`` is None where it says nothing: nothing was compared, or both always said one and the same.
    """

    n: int
    share: float
    kappa: float | None
    interval: tuple[float, float] | None


@cache
def calibration() -> tuple[Calibrated, ...]:
    """The calibration set."""
    value = json.loads(files(__package__).joinpath("calibration.json").read_text("utf-8"))
    return tuple(
        Calibrated(
            item["id"],
            item["reply"],
            tuple(part["criterion"] for part in item["criteria"]),
            tuple(part["holds"] for part in item["criteria"]),
        )
        for item in value["replies"]
    )


def judged(judge: Judge, replies: Iterable[Calibrated]) -> Iterator[tuple[Calibrated, Judgement]]:
    """What the judge says of each reply."""
    for item in replies:
        yield item, judge.judge(item.reply, item.rubric)


def pairs(of: Iterable[tuple[Calibrated, Judgement]]) -> list[tuple[bool, bool]]:
    """Person and judge, for each criterion of the replies that the judge answered."""
    return [
        (person, verdict.holds)
        for item, judgement in of
        if judgement.is_answered
        for person, verdict in zip(item.holds, judgement.verdicts, strict=True)
    ]


def agreement(of: Sequence[tuple[bool, bool]]) -> Agreement:
    """Cohen's kappa (1960) of two raters, with the large-sample interval of the same paper.

    kappa = (po - pe) / (1 - pe), po the share of equal verdicts, pe that expected of raters who are independent; its
    standard error is sqrt(po (1 - po) / (n (1 - pe)^2)).

    >>> found = agreement([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15)
    >>> found.share, round(found.kappa, 2)
    (0.7, 0.4)
    """
    n = len(of)
    if n == 0:
        return Agreement(0, 0.0, None, None)
    same = sum(one is other for one, other in of) / n
    first, second = sum(one for one, _ in of) / n, sum(other for _, other in of) / n
    by_chance = first * second + (1 - first) * (1 - second)
    if by_chance == 1:
        return Agreement(n, same, None, None)
    kappa = (same - by_chance) / (1 - by_chance)
    error = Z95 * sqrt(same * (1 - same) / n) / (1 - by_chance)
    return Agreement(n, same, kappa, (max(-1.0, kappa - error), min(1.0, kappa + error)))
