"""SIGKILL at any moment loses at most what was in flight, and a resume makes of it the board of an undisturbed run."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from bench.kills import Killer, Places
from eval_pipeline.postgres import Server
from eval_pipeline.results import Database
from eval_pipeline.storage import prepare_ledger

pytestmark = pytest.mark.xdist_group("kills")


@pytest.fixture(scope="module")
def killer(postgres_server: Server) -> Iterator[Killer]:
    names = [f"kills_{uuid4().hex}" for _ in range(2)]
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        for name in names:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        results_url, ledger_url = map(postgres_server.database_url, names)
        with Database(results_url) as database:
            database.migrate()
        prepare_ledger(ledger_url)
        yield Killer(Places(results_url, ledger_url))
        for name in names:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.mark.parametrize("seed", range(5))
def test_a_run_that_is_killed_and_resumed_is_a_run(killer: Killer, seed: int) -> None:
    """H15: SIGKILL, resume from what was flushed; no outcome twice, none missing, no book left behind."""
    survived = killer.survive(seed)
    assert survived.problems == ()
    assert survived.kills >= 1
