"""An outcome counts when it is durable, and not before; a database that dies is told and hangs nobody."""

import threading

import psycopg
import pytest

from eval_pipeline import writer as module
from eval_pipeline.errors import ResultsUnavailable, RunIsBusy
from eval_pipeline.outcome import Outcome
from eval_pipeline.results import Database, lease, outcomes
from eval_pipeline.writer import OutcomeWriter
from tests.build import AGENT, RUN, outcome, start_run


@pytest.fixture
def database(results: Database) -> Database:
    start_run(results)
    return results


def kill_writers(database: Database) -> None:
    """Ends every other session of this database, as a server that is stopped does."""
    with database.transaction() as db:
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where pid <> pg_backend_pid() and datname = current_database()"
        )


def put_until_refused(writer: OutcomeWriter) -> None:
    """Puts for ever: only a refusal ends it."""
    for n in range(10**9):
        writer.put(outcome(f"more-{n}"))


def test_all_outcomes_are_stored_when_the_writer_is_left(database: Database) -> None:
    with OutcomeWriter(database.url, RUN, AGENT) as writer:
        for n in range(3 * module.BATCH // 2):
            writer.put(outcome(f"e{n}"))
    assert len(outcomes.finished(database, RUN, AGENT)) == 3 * module.BATCH // 2


def test_nothing_is_told_as_stored_before_another_connection_can_read_it(database: Database) -> None:
    told: list[str] = []
    early: list[str] = []

    def check(batch: list[Outcome]) -> None:
        with Database(database.url) as other:
            there = {example_id for example_id, _ in outcomes.finished(other, RUN, AGENT)}
        early.extend(item.example_id for item in batch if item.example_id not in there)
        told.extend(item.example_id for item in batch)

    with OutcomeWriter(database.url, RUN, AGENT, check) as writer:
        for n in range(50):
            writer.put(outcome(f"e{n}"))
    assert early == []
    assert told == [f"e{n}" for n in range(50)]


def test_an_outcome_becomes_durable_without_waiting_for_the_end(database: Database) -> None:
    """H15: what was flushed before a kill is there."""
    durable = threading.Event()
    with OutcomeWriter(database.url, RUN, AGENT, lambda batch: durable.set()) as writer:
        writer.put(outcome())
        assert durable.wait(30)
        assert outcomes.finished(database, RUN, AGENT) == {("example-1", 0)}


def test_a_database_that_dies_is_told_to_who_puts_and_nobody_waits_for_ever(database: Database) -> None:
    with (
        pytest.raises(ResultsUnavailable, match="outcomes could not be stored"),
        OutcomeWriter(database.url, RUN, AGENT) as writer,
    ):
        kill_writers(database)
        put_until_refused(writer)
    assert writer.failed


def test_a_database_that_dies_is_told_when_the_writer_is_left(database: Database) -> None:
    with (
        pytest.raises(ResultsUnavailable, match="outcomes could not be stored"),
        OutcomeWriter(database.url, RUN, AGENT) as writer,
    ):
        kill_writers(database)
        writer.put(outcome())
    assert outcomes.finished(database, RUN, AGENT) == frozenset()


def test_an_outcome_that_the_database_refuses_ends_the_run_and_is_not_told_as_stored(database: Database) -> None:
    told: list[Outcome] = []
    with (
        pytest.raises(ResultsUnavailable, match="duplicate key"),
        OutcomeWriter(database.url, RUN, AGENT, told.extend) as writer,
    ):
        writer.put(outcome())
        writer.put(outcome())
    assert told == []


def test_the_error_of_the_caller_is_not_hidden_by_that_of_the_database(database: Database) -> None:
    with pytest.raises(KeyError), OutcomeWriter(database.url, RUN, AGENT) as writer:
        kill_writers(database)
        writer.put(outcome())
        raise KeyError


def test_what_was_put_before_the_caller_failed_is_stored(database: Database) -> None:
    """H13: what was finished before Ctrl-C is kept."""
    with pytest.raises(KeyboardInterrupt), OutcomeWriter(database.url, RUN, AGENT) as writer:
        writer.put(outcome())
        raise KeyboardInterrupt
    assert outcomes.finished(database, RUN, AGENT) == {("example-1", 0)}


def test_a_second_writer_of_the_same_agent_in_the_same_run_is_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "PATIENCE_S", 0.0)
    with OutcomeWriter(database.url, RUN, AGENT) as first:
        with pytest.raises(RunIsBusy, match="run run-1, agent sampler is being run by another command"):
            OutcomeWriter(database.url, RUN, AGENT).__enter__()
        first.put(outcome())
    with OutcomeWriter(database.url, RUN, AGENT) as after:
        after.put(outcome("later"))
    assert len(outcomes.finished(database, RUN, AGENT)) == 2


def test_a_writer_without_a_database_does_not_begin() -> None:
    with pytest.raises(ResultsUnavailable):
        OutcomeWriter("postgresql://x@127.0.0.1:1/none", RUN, AGENT).__enter__()


def test_the_sessions_of_a_writer_end_with_it(database: Database) -> None:
    with OutcomeWriter(database.url, RUN, AGENT):
        pass
    with psycopg.connect(database.url) as other:
        left = other.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            " and query like 'copy%%'"
        ).fetchone()
    assert left == (0,)
