"""What earlier runs said of the same examples: the last whole one with the same model, and nothing else."""

from datetime import timedelta
from typing import Any

import pytest

from eval_pipeline.results import Database, history, runs, scores
from eval_pipeline.results.scores import Graded
from eval_pipeline.verdict import Decision, Verdict
from tests.build import AGENT, NOW, agent_row, run_row

NOW_ASKED = "now"


def night(database: Database, run_id: str, hours: int, *verdicts: Verdict, finish: bool = True, **changes: Any) -> None:
    """A run of so many hours ago (before or after NOW) in which the examples e0, e1, … had these verdicts."""
    row = run_row(run_id=run_id, created_at=NOW + timedelta(hours=hours), **changes)
    runs.start(database, row, [agent_row(n_selected=len(verdicts))])
    graded = [Graded(f"e{n}", n, Decision(verdict, "why", (), (), ()), ()) for n, verdict in enumerate(verdicts)]
    scores.replace(database, run_id, AGENT, graded, evaluators_digest="e1", dataset_digest="d1")
    if finish:
        runs.finish(database, run_id, interrupted=False)


def before(database: Database, *examples: str) -> dict[str, str]:
    found = history.verdicts_before(database, NOW_ASKED, [(AGENT, example) for example in examples])
    assert {agent for agent, _ in found} <= {AGENT}
    return {example: verdict for (_, example), verdict in found.items()}


def test_the_verdicts_are_those_of_the_last_run_before(results: Database) -> None:
    night(results, "two-before", -48, Verdict.FAIL, Verdict.FAIL)
    night(results, "before", -24, Verdict.PASS, Verdict.XFAIL)
    night(results, NOW_ASKED, 0, Verdict.FAIL, Verdict.FAIL, Verdict.FAIL)
    night(results, "after", 24, Verdict.ERROR, Verdict.ERROR)
    assert before(results, "e0", "e1", "e2") == {"e0": "PASS", "e1": "XFAIL"}


def test_only_what_is_asked_for_is_told(results: Database) -> None:
    night(results, "before", -24, Verdict.PASS, Verdict.PASS)
    night(results, NOW_ASKED, 0, Verdict.FAIL, Verdict.FAIL)
    assert before(results, "e1") == {"e1": "PASS"}
    assert before(results) == {}
    assert history.verdicts_before(results, NOW_ASKED, [("another", "e1")]) == {}


@pytest.mark.parametrize("changes", [{"partial": True}, {"finish": False}, {"model": "other"}])
def test_a_run_that_is_not_whole_or_had_another_model_says_nothing(results: Database, changes: dict[str, Any]) -> None:
    night(results, "whole", -48, Verdict.PASS)
    night(results, "before", -24, Verdict.ERROR, **changes)
    night(results, NOW_ASKED, 0, Verdict.FAIL)
    assert before(results, "e0") == {"e0": "PASS"}


def test_the_first_run_has_nothing_before_it(results: Database) -> None:
    night(results, NOW_ASKED, 0, Verdict.FAIL)
    assert before(results, "e0") == {}
