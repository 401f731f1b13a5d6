"""The judge: a model that checks a free-form reply against the written rubric of its example, criterion by criterion.

It is the only place where a model grades. It fails closed, shows for each verdict the passage that decides it, and is
itself tested in every run by a reply that is plainly wrong. ``docs/judge.md`` says how.
"""

from eval_pipeline.judge.judge import Judge, judging, meets_rubric
from eval_pipeline.judge.verdicts import CriterionVerdict, Judgement

__all__ = ["CriterionVerdict", "Judge", "Judgement", "judging", "meets_rubric"]
