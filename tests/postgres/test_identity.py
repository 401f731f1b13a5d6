"""Two spellings of one address are one database; two databases of one server are two."""

from urllib.parse import urlsplit

import psycopg
import pytest

from eval_pipeline.errors import ConfigError
from eval_pipeline.postgres import Server, is_same_database
from eval_pipeline.postgres.url import with_database
from eval_pipeline.settings import Settings
from eval_pipeline.storage import storage


def spelled_otherwise(url: str) -> str:
    """The same database by another text, for libpq."""
    parts = urlsplit(url)
    return f"postgresql://?dbname={parts.path.lstrip('/')}&application_name=other" + (
        f"&host={parts.hostname}&port={parts.port}&user={parts.username}&password={parts.password}"
        if parts.hostname
        else f"&{parts.query}&user={parts.username}" + (f"&password={parts.password}" if parts.password else "")
    )


def test_another_spelling_of_the_same_address_is_the_same_database(database_url: str) -> None:
    other = spelled_otherwise(database_url)
    with psycopg.connect(other) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
    assert is_same_database(database_url, database_url)
    assert is_same_database(database_url, other)
    assert is_same_database(other, database_url)


def test_two_databases_of_one_server_are_not_the_same(postgres_server: Server, database_url: str) -> None:
    assert not is_same_database(database_url, with_database(database_url, "postgres"))


def test_a_server_that_does_not_answer_is_not_the_same(database_url: str) -> None:
    assert not is_same_database(database_url, "postgresql://nobody@127.0.0.1:1/x")


def test_results_and_ledger_in_one_database_are_refused_however_they_are_spelled(database_url: str) -> None:
    both = Settings(database_url=database_url, ledger_url=spelled_otherwise(database_url))
    with pytest.raises(ConfigError, match="name the same database"), storage(both):
        pass
