"""Scoring: stored outcomes through the evaluators of now, one verdict for each example. No agent is run.

The judge, where an agent has one, is asked only what it has not answered before.

An outcome is only graded against the example that it was made from: when the example's inputs have changed since, the
verdict is ERROR and says so.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING

from eval_pipeline.errors import ConfigError
from eval_pipeline.evaluator import grade
from eval_pipeline.outcome import Outcome, Status
from eval_pipeline.printed import nothing_on_stdout
from eval_pipeline.results import outcomes, runs, scores
from eval_pipeline.results.database import Database
from eval_pipeline.results.scores import Graded
from eval_pipeline.rules.static import offences
from eval_pipeline.settings import settings
from eval_pipeline.suite import AgentSuite
from eval_pipeline.verdict import Decision, Score, Trial, Verdict, decide

if TYPE_CHECKING:
    from bookkeeping.models import Model, NoModel


def score_agent(suite: AgentSuite, database: Database, run_id: str) -> int:
    """Scores all stored outcomes of one agent in a run and stores scores and verdicts; gives how many examples.

    Outcomes are read through a connection of their own while verdicts are written, so neither is ever held whole.
    """
    with Database(database.url) as reading, nothing_on_stdout(), _judged(suite, database, run_id):
        return scores.replace(
            database,
            run_id,
            suite.name,
            grade_outcomes(suite, outcomes.read(reading, run_id, suite.name)),
            evaluators_digest=suite.evaluators_digest,
            dataset_digest=suite.dataset.digest,
        )


@contextmanager
def _judged(suite: AgentSuite, database: Database, run_id: str) -> Iterator[None]:
    """For an agent with a judged score: its judge while this lasts, and the control at the end.

    A judge that fails the control makes the agent's row of the board red.
    """
    if not any(key.judged for item in suite.evaluators for key in item.scores.values()):
        yield
        return
    from eval_pipeline.judge.control import RULE, failed_control
    from eval_pipeline.judge.judge import Judge, judging
    from eval_pipeline.results.judgements import StoredJudgements

    with Database(database.url) as own:
        judge = Judge(judge_model(), StoredJudgements(own, run_id, suite.name))
        with judging(judge):
            yield
        failed = failed_control(judge, run_id)
        runs.replace_problems(own, run_id, suite.name, RULE, [f"{RULE}: {failed}"] if failed else [])


def judge_model(asked: str | None = None) -> "Model | NoModel":
    """The model that judges, or why there is none: the one asked for, else that of EVAL_JUDGE_MODEL, else the default.

    Raises ConfigError for a name that no model has.
    """
    from bookkeeping.models import NoModel, UnknownModel, resolve

    asked = asked or settings().judge_model
    try:
        found = resolve(asked, os.environ)
    except UnknownModel as error:
        raise ConfigError(f"the judge: {error}") from None
    if isinstance(found, NoModel) and not asked:
        return NoModel("no judge: set ANTHROPIC_API_KEY or EVAL_JUDGE_MODEL")
    return found


def grade_outcomes(suite: AgentSuite, stored: Iterable[Outcome]) -> Iterator[Graded]:
    """The verdict of each example that left outcomes; these come grouped by example."""
    refused = next(iter(offences(suite)), None)
    for example_id, group in groupby(stored, key=lambda outcome: outcome.example_id):
        trials = list(group)
        position = trials[0].position
        if refused is not None:
            told = f"refused by the rule {refused.rule}: {refused}"
            yield Graded(example_id, position, Decision(Verdict.ERROR, told, n_trials=len(trials)))
        elif all(outcome.status is Status.SKIPPED for outcome in trials):
            yield Graded(example_id, position, Decision(Verdict.SKIP, trials[0].skip_reason or "", n_trials=0))
        else:
            yield _graded(suite, example_id, position, trials)


def _graded(suite: AgentSuite, example_id: str, position: int, outcomes_of_one: Sequence[Outcome]) -> Graded:
    example = suite.dataset.by_id.get(example_id)
    trials = [_trial(suite, outcome) for outcome in outcomes_of_one]
    decision = decide(trials, example.known_defects if example else ())
    kept: list[tuple[int, Score]] = []
    for outcome, trial in zip(outcomes_of_one, trials, strict=True):
        kept.extend((outcome.trial, score) for score in trial.scores)
    return Graded(example_id, position, decision, tuple(kept))


def _trial(suite: AgentSuite, outcome: Outcome) -> Trial:
    if outcome.failure is not None:
        return Trial(error=f"{outcome.failure.kind.value}: {outcome.failure.message}")
    if outcome.status is Status.SKIPPED:
        return Trial(error=f"skipped although other trials of it ran: {outcome.skip_reason}")
    example = suite.dataset.by_id.get(outcome.example_id)
    if example is None:
        return Trial(error="the example is no longer in the dataset")
    if suite.dataset.inputs_digest(example) != outcome.inputs_digest:
        return Trial(error="the example's inputs have changed since this outcome: run it again")
    if outcome.outputs is None:
        return Trial(error="there are no outputs to grade")
    graded = grade(suite.evaluators, outcome.outputs, example.expected)
    error = "; ".join(graded.problems) or None
    return Trial(graded.scores, outcome.outputs, error)
