"""What goes into the results database comes out as it was, whatever an agent said."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.errors import ConfigError, ResultsUnavailable
from eval_pipeline.outcome import Failure, FailureKind, ModelIdentity, Outcome, Span, Status, Usage
from eval_pipeline.postgres import Server
from eval_pipeline.results import Database, boards, outcomes, runs, scores
from eval_pipeline.results.scores import Graded
from eval_pipeline.values import NotJson, same
from eval_pipeline.verdict import Decision, Excused, Score, Verdict
from tests.build import AGENT, NOW, RUN, agent_row, outcome, run_row, start_run
from tests.test_values import json_values


@pytest.fixture
def database(results: Database) -> Database:
    start_run(results)
    return results


def stored(database: Database, *given_outcomes: Outcome) -> list[Outcome]:
    """The outcomes as they are read back with their spans."""
    outcomes.add(database, map(outcomes.encoded, given_outcomes))
    ids = dict.fromkeys(item.example_id for item in given_outcomes)
    return [item for example_id in ids for item in outcomes.read_one(database, RUN, AGENT, example_id)]


# Outcomes

COMPLETED = outcome(
    "completed",
    trial=2,
    position=7,
    inputs_digest="d" * 64,
    started_at=datetime(2026, 12, 1, 9, 30, 1, 123456, UTC),
    seconds=1.25,
    outputs={"answer": "vier", "lines": [{"n": 0, "flag": False, "x": 0.0, "none": None}]},
    usage=Usage(3, 2**40, 7, Decimal("0.000123")),
    model=ModelIdentity("local", "in-process", "qwen-1"),
    spans=(
        Span("node", "reads", 0.0, 0.5, {"a": 1}, ["b"], None),
        Span("model", "asks", 0.5, 0.25, None, None, "TimeoutError"),
    ),
)
EVERY_KIND = [
    COMPLETED,
    outcome("no model id", model=ModelIdentity("local", "in-process", None)),
    *(outcome(kind.value, status=Status.FAILED, failure=Failure(kind, "why", "trace")) for kind in FailureKind),
    outcome("no detail", status=Status.FAILED, failure=Failure(FailureKind.TIMEOUT, "", None)),
    outcome("skipped", status=Status.SKIPPED, skip_reason="no Postgres reachable at db:5432"),
    outcome("skipped without words", status=Status.SKIPPED, skip_reason=""),
]


def test_every_field_of_every_kind_of_outcome_comes_back(database: Database) -> None:
    assert stored(database, *EVERY_KIND) == EVERY_KIND


def test_types_come_back_too(database: Database) -> None:
    (back,) = stored(database, COMPLETED)
    assert same(back.outputs, COMPLETED.outputs)
    assert type(back.usage.cost_usd) is Decimal
    assert back.started_at.utcoffset() == timedelta(0)


def test_a_time_of_another_zone_comes_back_as_the_same_moment(database: Database) -> None:
    there = datetime(2026, 12, 1, 10, 30, tzinfo=timezone(timedelta(hours=1)))
    (back,) = stored(database, outcome(started_at=there))
    assert back.started_at == there


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.text(max_size=4), json_values, max_size=3))
def test_all_outputs_that_are_json_come_back(database: Database, value: dict[str, object]) -> None:
    with database.transaction() as db:
        db.execute("delete from results.outcomes")
    (back,) = stored(database, outcome(outputs=value))
    assert same(back.outputs, value)


@pytest.mark.parametrize(
    "text", ["nul \0 in it", "lone \ud800 surrogate", "\udfff\0", "emoji 🧾", "tab\tline\nback\\slash"]
)
def test_text_that_postgres_dislikes_comes_back_in_outputs_and_spans(database: Database, text: str) -> None:
    kept = outcome(outputs={text: [text]}, spans=(Span("node", "n", 0.0, 0.0, {"state": text}, text),))
    assert stored(database, kept) == [kept]


def test_messages_that_a_text_column_cannot_hold_are_kept_readable(database: Database) -> None:
    failure = Failure(FailureKind.RAISED, "nul \0 and \ud800", "also \0 here")
    bad = outcome(status=Status.FAILED, failure=failure, model=ModelIdentity("m\0", "e\0", "r\ud800"))
    (back,) = stored(database, bad)
    assert back.failure == Failure(FailureKind.RAISED, "nul \u2400 and \\ud800", "also \u2400 here")
    assert back.model == ModelIdentity("m\u2400", "e\u2400", "r\\ud800")


def test_outputs_that_are_not_json_are_refused_before_they_reach_the_database() -> None:
    with pytest.raises(NotJson):
        outcomes.encoded(outcome(outputs={"a": float("nan")}))
    with pytest.raises(NotJson):
        outcomes.encoded(outcome(spans=(Span("node", "n", 0.0, 0.0, float("nan")),)))


def test_outcomes_are_read_in_the_order_of_the_dataset_trial_by_trial_without_spans(database: Database) -> None:
    given_outcomes = [
        outcome(f"e{position}", position=position, trial=trial, spans=(Span("node", "n", 0.0, 0.0),))
        for position, trial in [(1, 1), (0, 1), (1, 0), (0, 0)]
    ]
    outcomes.add(database, map(outcomes.encoded, given_outcomes))
    read = list(outcomes.read(database, RUN, AGENT))
    assert [(item.example_id, item.trial) for item in read] == [("e0", 0), ("e0", 1), ("e1", 0), ("e1", 1)]
    assert all(item.spans == () for item in read)


def test_more_than_one_page_of_outcomes_is_read_whole(database: Database) -> None:
    outcomes.add(database, (outcomes.encoded(outcome(f"e{i}", position=i)) for i in range(1234)))
    assert [item.position for item in outcomes.read(database, RUN, AGENT)] == list(range(1234))


def test_an_outcome_is_never_stored_twice(database: Database) -> None:
    stored(database, outcome())
    with pytest.raises(psycopg.errors.UniqueViolation):
        outcomes.add(database, [outcomes.encoded(outcome())])


def test_a_batch_is_stored_whole_or_not_at_all(database: Database) -> None:
    stored(database, outcome("there"))
    with pytest.raises(psycopg.errors.UniqueViolation):
        outcomes.add(database, map(outcomes.encoded, [outcome("new"), outcome("there")]))
    assert outcomes.finished(database, RUN, AGENT) == {("there", 0)}


def test_outcomes_of_another_output_schema_are_told_and_not_read(database: Database) -> None:
    outcomes.add(database, [outcomes.encoded(replace(outcome(), schema=99))])
    with pytest.raises(ConfigError, match=r"sampler/example-1 of run run-1 has output schema 99.*run it again"):
        list(outcomes.read(database, RUN, AGENT))


def test_what_is_finished_counts_errors_and_skips(database: Database) -> None:
    stored(database, *EVERY_KIND)
    assert len(outcomes.finished(database, RUN, AGENT)) == len(EVERY_KIND)
    assert outcomes.finished(database, RUN, "other") == frozenset()


def test_only_what_failed_is_forgotten_for_a_second_try(database: Database) -> None:
    stored(database, *EVERY_KIND)
    outcomes.drop_failed(database, RUN, AGENT)
    left = {(item.example_id, item.trial) for item in EVERY_KIND if item.status is not Status.FAILED}
    assert outcomes.finished(database, RUN, AGENT) == left


def test_two_runs_are_kept_apart(database: Database) -> None:
    """H25: two runs with two models are two results."""
    runs.start(database, run_row(run_id="run-2", model="other"), [agent_row()])
    mine, theirs = outcome(outputs={"a": 1}), outcome(run_id="run-2", outputs={"a": 2})
    outcomes.add(database, map(outcomes.encoded, [mine, theirs]))
    assert [item.outputs for item in outcomes.read(database, RUN, AGENT)] == [{"a": 1}]
    assert [item.outputs for item in outcomes.read(database, "run-2", AGENT)] == [{"a": 2}]


def test_resources_are_summed_over_what_ran(database: Database) -> None:
    stored(
        database,
        *(
            outcome(f"e{i}", seconds=float(i), usage=Usage(1, 10, 1, Decimal("0.10")), model=ModelIdentity("m", "here"))
            for i in (1, 2, 3)
        ),
        outcome("skipped", status=Status.SKIPPED, seconds=99.0),
    )
    used = outcomes.resources(database, RUN, AGENT)
    assert (used["input_tokens"], used["output_tokens"], used["cost_usd"]) == (30, 3, Decimal("0.30"))
    assert (used["p50"], used["p95"], used["endpoints"]) == (2.0, pytest.approx(2.9), ["here"])


# Scores and verdicts

DECISION = Decision(
    Verdict.FAIL,
    "answer_correct 0 (nul \0 and \ud800)",
    failed=("answer_correct",),
    excused=(Excused("other", "known"),),
    xpass=("fixed",),
    unanswered=("judged",),
    hints=("a hint",),
    n_trials=3,
    n_passed=1,
)


def replace_scores(database: Database, *graded: Graded, evaluators: str = "e1", dataset: str = "d1") -> None:
    scores.replace(database, RUN, AGENT, graded, evaluators_digest=evaluators, dataset_digest=dataset)


def test_every_field_of_a_verdict_and_its_scores_comes_back(database: Database) -> None:
    graded = Graded(
        "example-1",
        3,
        DECISION,
        ((0, Score("a", 0.1 + 0.2, "why")), (0, Score("b", 1.0)), (1, Score("a", 0.0, None, unanswered=True))),
    )
    replace_scores(database, graded)
    assert scores.read(database, RUN, AGENT) == (graded,)


def test_verdicts_are_read_in_the_order_of_the_dataset(database: Database) -> None:
    replace_scores(database, *(Graded(f"e{i}", i, Decision(Verdict.PASS)) for i in (10, 2, 1)))
    assert [item.position for item in scores.read(database, RUN, AGENT)] == [1, 2, 10]


def test_scoring_again_leaves_nothing_of_before(database: Database) -> None:
    """H23: a second scoring gives its own scores, neither none nor both."""
    replace_scores(database, Graded("old", 0, DECISION, ((0, Score("a", 0.0)),)))
    new = Graded("new", 0, Decision(Verdict.PASS), ((0, Score("b", 1.0)),))
    for _ in range(2):
        replace_scores(database, new, evaluators="e2", dataset="d2")
        assert scores.read(database, RUN, AGENT) == (new,)
    (row,) = runs.agents(database, RUN)
    assert (row.evaluators_digest, row.scored_digest) == ("e2", "d2")


def test_a_scoring_that_breaks_off_leaves_the_scores_that_are_there(database: Database) -> None:
    old = Graded("old", 0, Decision(Verdict.PASS), ((0, Score("a", 1.0)),))
    replace_scores(database, old)

    def breaks_off() -> Iterator[Graded]:
        yield Graded("new", 0, Decision(Verdict.FAIL))
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        scores.replace(database, RUN, AGENT, breaks_off(), evaluators_digest="e2", dataset_digest="d2")
    assert scores.read(database, RUN, AGENT) == (old,)
    assert runs.agents(database, RUN)[0].evaluators_digest == "e1"


def test_a_comment_that_a_text_column_cannot_hold_is_kept_readable(database: Database) -> None:
    replace_scores(database, Graded("e", 0, DECISION, ((0, Score("a", 0.0, "nul \0")),)))
    assert scores.read(database, RUN, AGENT)[0].scores == ((0, Score("a", 0.0, "nul \u2400")),)


# Runs and boards


def test_a_run_and_its_agents_come_back(database: Database) -> None:
    run = run_row(
        run_id="run-9", partial=True, model="local", trials=3, selection={"agents": ["a"], "select": ["a/\0"]}
    )
    row = agent_row(agent="a", problems=("a broken rule",))
    runs.start(database, run, [row])
    assert runs.get(database, "run-9") == run
    assert runs.agents(database, "run-9") == (row,)
    assert runs.exists(database, "run-9")
    assert not runs.exists(database, "run-10")


def test_the_latest_run_is_the_one_that_was_made_last(database: Database) -> None:
    for name, minutes in (("newest", 10), ("older", 5)):
        runs.start(database, run_row(run_id=name, created_at=NOW + timedelta(minutes=minutes)), [])
    assert runs.get(database).run_id == "newest"


def test_a_run_that_is_not_there_is_told(database: Database) -> None:
    with pytest.raises(ConfigError, match="there is no run run-7"):
        runs.get(database, "run-7")
    with database.transaction() as db:
        db.execute("delete from results.runs")
    with pytest.raises(ConfigError, match="there is no run yet"):
        runs.get(database)


def test_a_run_that_is_resumed_keeps_what_it_was_and_counts_as_unfinished(database: Database) -> None:
    runs.finish(database, RUN, interrupted=True)
    assert runs.get(database, RUN).interrupted
    runs.start(database, run_row(model="another", partial=True), [agent_row(dataset_digest="another")])
    again = runs.get(database, RUN)
    assert (again.finished_at, again.interrupted, again.model, again.partial) == (None, False, None, False)
    assert runs.agents(database, RUN)[0].dataset_digest == "d1"


def test_the_newest_board_of_a_run_is_read(database: Database) -> None:
    assert boards.latest(database, RUN) is None
    for n in (1, 2):
        boards.add(database, RUN, "RED", f'{{"n": {n}}}', partial=True)
    assert boards.latest(database, RUN) == {"n": 2}


# The database


def test_migrating_twice_changes_nothing(database: Database) -> None:
    database.migrate()
    assert runs.exists(database, RUN)


def test_threads_that_migrate_at_once_do_it_one_after_the_other(database_url: str) -> None:
    failures: list[BaseException] = []
    barrier = threading.Barrier(3)

    def migrates() -> None:
        try:
            with Database(database_url) as mine:
                barrier.wait()
                mine.migrate()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=migrates) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Database(database_url) as opened, opened.transaction() as db:
        db.execute("select version_num from results.alembic_version")
        assert len(db.fetchall()) == 1


def test_a_database_that_does_not_answer_is_told_with_its_place_and_without_its_password() -> None:
    with pytest.raises(ResultsUnavailable) as caught:
        Database("postgresql://somebody:secret@127.0.0.1:1/results")
    assert "127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_database_that_refuses_is_told_in_one_line_and_without_its_password(postgres_server: Server) -> None:
    with pytest.raises(ResultsUnavailable) as caught:
        Database(postgres_server.database_url("there_is_none"))
    told = str(caught.value)
    assert told.startswith("the results database refuses the connection: ")
    assert "\n" not in told
    password = psycopg.conninfo.conninfo_to_dict(postgres_server.url).get("password")
    assert not password or str(password) not in told


def test_a_database_that_goes_away_is_told(database: Database) -> None:
    with psycopg.connect(database.url, autocommit=True) as other:
        other.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where pid <> pg_backend_pid() and datname = current_database()"
        )
    with pytest.raises(ResultsUnavailable, match="the results database went away"):
        runs.get(database)
    with pytest.raises(ResultsUnavailable, match="the results database went away"):
        runs.get(database)
