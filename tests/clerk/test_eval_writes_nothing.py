"""A whole eval run of the Clerk writes nothing into the live queue or the live sink: both are watched while it runs.

The environment names them, as it would in production. The queue is watched by triggers in its database, which see every
statement, the sink by its files and folders with their times of change.
"""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from bookkeeping.agents.clerk import build_graph
from bookkeeping.agents.clerk.graph import ClerkContext
from bookkeeping.intake.live import QUEUE, SINK, open_intake
from bookkeeping.intake.postgres_queue import PostgresQueue
from eval_pipeline.outcome import Outcome, Status
from eval_pipeline.pipeline import Request, make_plan, run_one_agent, start
from eval_pipeline.results import Database, outcomes
from eval_pipeline.selection import Selection
from eval_pipeline.settings import Settings, settings
from eval_pipeline.suite import load_suite
from tests.clerk.cases import inputs

WATCH = """
    CREATE TABLE public.seen (what text NOT NULL);
    CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO public.seen VALUES (TG_OP); RETURN NULL; END $$;
    CREATE TRIGGER watched AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON intake.items
        FOR EACH STATEMENT EXECUTE FUNCTION public.see();
"""


class Watched:
    """The live stores with somebody who watches them."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder

    def statements(self) -> list[str]:
        """What was done to the items of the live queue."""
        with psycopg.connect(self.url) as connection:
            return [row[0] for row in connection.execute("SELECT what FROM public.seen")]

    def files(self) -> dict[str, int]:
        """Every file and folder of the live sink, with the time of its last change."""
        return {str(path): path.stat().st_mtime_ns for path in (self.folder, *self.folder.rglob("*"))}


@pytest.fixture
def live(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    folder = tmp_path / "live"
    folder.mkdir()
    with PostgresQueue(database_url) as queue:
        queue.migrate()
    with psycopg.connect(database_url) as connection:
        connection.execute(WATCH)
    monkeypatch.setenv(QUEUE, database_url)
    monkeypatch.setenv(SINK, str(folder))
    yield Watched(database_url, folder)


def test_who_watches_sees_what_the_clerk_writes_in_earnest(live: Watched) -> None:
    before = live.files()
    with open_intake({QUEUE: live.url, SINK: str(live.folder)}) as (queue, sink):
        build_graph().invoke(inputs(), context=ClerkContext(queue, sink))
    assert live.statements() == ["INSERT"]
    assert live.files() != before


def test_a_whole_eval_run_writes_nothing(live: Watched, results: Database) -> None:
    before = live.files()
    chosen = Settings(model=None)
    plan = make_plan(results, str(uuid4()), Request(Selection(("clerk",)), None), chosen)
    start(results, plan)
    assert run_one_agent(results, plan, "clerk", chosen) == ()
    stored = outcomes_of(results, plan.run_id)
    assert {item.example_id for item in stored} == {example.id for example in plan.chosen["clerk"]}
    assert any(item.status is Status.COMPLETED and item.outputs and item.outputs["queued"] for item in stored)
    assert any(item.status is Status.COMPLETED and item.outputs and item.outputs["filed"] for item in stored)
    assert live.statements() == []
    assert live.files() == before


def outcomes_of(results: Database, run_id: str) -> list[Outcome]:
    """What is stored of every example of the Clerk."""
    (suite,) = load_suite(settings().datasets, ["clerk"])
    return [
        item for example in suite.dataset.examples for item in outcomes.read_one(results, run_id, "clerk", example.id)
    ]
