"""The rules about what a run left."""

from datetime import UTC, datetime, timedelta

from eval_pipeline.results import runs, scores
from eval_pipeline.results.database import Database
from eval_pipeline.results.runs import AgentRow, RunRow
from eval_pipeline.results.scores import Graded
from eval_pipeline.rules.after_run import stale_intermittents
from eval_pipeline.verdict import Decision, Excused, Verdict
from tests import build

REASON = "now and then the turn ends without a proposal"
MARKER = build.marker("total_correct", only_when={"parity": "odd"}, intermittent=True, reason=REASON)
SEEN = Decision(Verdict.XFAIL, REASON, excused=(Excused("total_correct", REASON),))
UNSEEN = Decision(Verdict.PASS)
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def keep(database: Database, nth: int, decision: Decision, *, model: str | None = None, partial: bool = False) -> None:
    """Stores a finished run of the sampler whose one example ended like this."""
    run = RunRow(f"run-{nth}", BEGAN + timedelta(days=nth), partial, model, 1, {"agents": [build.AGENT]})
    runs.start(database, run, [AgentRow(build.AGENT, "d", "c", 1, 1)])
    graded = [Graded("one", 0, decision)]
    scores.replace(database, run.run_id, build.AGENT, graded, evaluators_digest="e", dataset_digest="d")
    runs.finish(database, run.run_id, interrupted=False)


def told(database: Database, model: str | None = None) -> list[str | None]:
    suite = build.suite(build.example("one", known_defects=[MARKER]))
    return [offence.example for offence in stale_intermittents(suite, database, model, last=3)]


def test_an_intermittent_defect_is_stale_after_n_whole_runs_without_a_sighting(results: Database) -> None:
    keep(results, 0, SEEN)
    keep(results, 1, UNSEEN)
    keep(results, 2, UNSEEN)
    assert told(results) == []
    keep(results, 3, UNSEEN)
    assert told(results) == ["one"]


def test_partial_runs_other_models_and_skips_do_not_count(results: Database) -> None:
    keep(results, 1, UNSEEN)
    keep(results, 2, UNSEEN)
    keep(results, 3, UNSEEN, partial=True)
    keep(results, 4, UNSEEN, model="local")
    keep(results, 5, Decision(Verdict.SKIP, "no model"))
    keep(results, 6, Decision(Verdict.ERROR, "raised"))
    assert told(results) == []
    assert told(results, model="local") == []


def test_a_sighting_among_the_last_n_keeps_the_marker(results: Database) -> None:
    for nth, decision in enumerate([UNSEEN, UNSEEN, SEEN, UNSEEN]):
        keep(results, nth, decision)
    assert told(results) == []
