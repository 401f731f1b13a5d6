"""Migrating: from nothing, again, at the same time, and without the rights."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from bookkeeping.ledger import Ledger, LedgerError
from bookkeeping.ledger.migrate import HEAD, MIGRATIONS
from eval_pipeline.postgres import embedded
from tests.ledger.builders import a_spec, an_entry


def test_the_version_that_the_code_expects_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_migrating_again_changes_nothing(database_url: str) -> None:
    with Ledger.connect(database_url) as ledger:
        ledger.migrate()
        posted = ledger.create_book(a_spec(chain="kept")).post(an_entry())
        ledger.migrate()
        assert ledger.open_book("kept").verify().head_hash == posted.hash


def test_four_that_migrate_at_once_all_succeed(database_url: str) -> None:
    def migrate(_: int) -> None:
        with Ledger.connect(database_url, pool_size=1) as ledger:
            ledger.migrate()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(migrate, range(4)))
    with psycopg.connect(database_url) as raw:
        assert raw.execute("SELECT count(*) FROM ledger.alembic_version").fetchone() == (1,)
        assert raw.execute("SELECT count(*) FROM ledger.accounts").fetchone() == (92,)


def test_currencies_that_the_code_has_learnt_are_added(database_url: str) -> None:
    with Ledger.connect(database_url) as ledger:
        ledger.migrate()
        with psycopg.connect(database_url, autocommit=True) as raw:
            raw.execute("SET session_replication_role = replica")
            raw.execute("DELETE FROM ledger.currencies WHERE code = 'KWD'")
        ledger.migrate()
        assert ledger.create_book(a_spec(currency="KWD")).currency == "KWD"


def test_a_database_that_is_not_migrated_says_so(database_url: str) -> None:
    with Ledger.connect(database_url) as ledger:
        for use in (lambda: ledger.create_book(a_spec()), lambda: ledger.open_book("x"), ledger.set_marker):
            with pytest.raises(LedgerError, match=r"run migrate\(\)"):
                use()


def test_a_database_of_a_newer_version_is_left_alone(database_url: str) -> None:
    with Ledger.connect(database_url) as ledger:
        ledger.migrate()
        with psycopg.connect(database_url, autocommit=True) as raw:
            raw.execute("UPDATE ledger.alembic_version SET version_num = '9999'")
        with pytest.raises(LedgerError, match="9999"):
            ledger.migrate()


def test_a_user_without_the_right_is_told_what_to_do(reachable_home: Path) -> None:
    """On a server of its own: roles belong to the whole server, and the tests' server has the readers' role."""
    with embedded(reachable_home) as server:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("CREATE ROLE clerk LOGIN")
            admin.execute("CREATE DATABASE of_another")
            admin.execute("CREATE DATABASE of_clerk OWNER clerk")

        def as_clerk(database: str) -> str:
            return server.database_url(database).replace("postgres@", "clerk@")

        with (
            Ledger.connect(as_clerk("of_another")) as ledger,
            pytest.raises(LedgerError, match="CREATE on the database"),
        ):
            ledger.migrate()
        with Ledger.connect(as_clerk("of_clerk")) as ledger:
            with pytest.raises(LedgerError, match="CREATE ROLE ledger_reader NOLOGIN"):
                ledger.migrate()
            with psycopg.connect(server.url, autocommit=True) as admin:
                admin.execute("CREATE ROLE ledger_reader NOLOGIN")
            ledger.migrate()
            assert ledger.create_book(a_spec()).post(an_entry()).seq == 1
