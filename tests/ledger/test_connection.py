"""Connecting: the URLs that are taken, and what is said when nothing answers."""

import subprocess
import sys

import psycopg
import pytest

from bookkeeping.ledger import Ledger, LedgerError, LedgerUnavailable
from bookkeeping.ledger.connection import host_port, libpq_conninfo
from eval_pipeline.postgres import Server
from tests.ledger.builders import a_spec, an_entry


@pytest.mark.parametrize("driver", ["", "+psycopg", "+psycopg2"])
def test_a_driver_in_the_url_is_of_no_matter(ledger: Ledger, ledger_url: str, driver: str) -> None:
    with Ledger.connect(ledger_url.replace("postgresql://", f"postgresql{driver}://")) as connected:
        assert connected.create_book(a_spec()).post(an_entry()).seq == 1


def test_whoever_asks_for_one_at_a_time_has_one_connection(ledger: Ledger, ledger_url: str) -> None:
    named = f"{ledger_url}{'&' if '?' in ledger_url else '?'}application_name=one_at_a_time"
    with Ledger.connect(named) as connected, psycopg.connect(ledger_url, autocommit=True) as watcher:
        connected.drop_abandoned_books()
        for _ in range(3):
            connected.create_book(a_spec()).post(an_entry())
        counted = watcher.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'one_at_a_time'")
        assert counted.fetchone() == (1,)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://u:p@db.example.com:6543/books", "db.example.com:6543"),
        ("postgresql+psycopg2://u:p@db.example.com/books", "db.example.com:5432"),
        ("postgres://u@/books?host=/run/pg", "/run/pg:5432"),
        ("postgresql://u@/books?host=/run/pg&port=5433", "/run/pg:5433"),
        ("postgresql+psycopg://[::1]:1/books", "::1:1"),
    ],
)
def test_the_place_is_named_as_host_and_port(url: str, place: str) -> None:
    assert host_port(libpq_conninfo(url)) == place


def test_a_password_with_strange_characters_arrives_whole() -> None:
    given = psycopg.conninfo.conninfo_to_dict(libpq_conninfo("postgresql+psycopg2://u:p%40%20'%5C@h/d"))
    assert (given["user"], given["password"], given["host"], given["dbname"]) == ("u", "p@ '\\", "h", "d")


@pytest.mark.parametrize(
    "url", ["postgresql://u:s3cret@127.0.0.1:1/books", "postgresql://u:s3cret@/books?host=/nowhere"]
)
def test_where_nothing_answers_the_place_is_named_and_the_password_is_not(url: str) -> None:
    with pytest.raises(LedgerUnavailable) as unavailable:
        Ledger.connect(url)
    assert str(unavailable.value) == f"no Postgres reachable at {unavailable.value.host_port}"
    assert unavailable.value.host_port in ("127.0.0.1:1", "/nowhere:5432")
    assert "s3cret" not in repr(unavailable.value.__cause__)


def test_a_database_that_is_not_there_is_named(postgres_server: Server) -> None:
    with pytest.raises(LedgerUnavailable, match='database "absent" does not exist'):
        Ledger.connect(postgres_server.database_url("absent"))


@pytest.mark.parametrize(
    "url", ["mysql://u:s3cret@h/d", "postgresql://u:s3cret@h/d?nonsense=1", "postgresql://u:s3cret@h:port/d"]
)
def test_what_is_no_postgres_url_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ValueError, match="not a Postgres URL") as error:
        Ledger.connect(url)
    assert "s3cret" not in str(error.value)


def test_connections_that_the_server_ended_are_replaced(ledger: Ledger, ledger_url: str) -> None:
    with Ledger.connect(ledger_url, pool_size=2) as connected:
        book = connected.create_book(a_spec())
        with psycopg.connect(ledger_url, autocommit=True) as raw:
            raw.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE application_name = 'ledger' AND datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert book.post(an_entry()).seq == 1


def test_a_connection_that_is_cut_in_the_middle_is_unavailable(ledger: Ledger, ledger_url: str) -> None:
    with (
        Ledger.connect(ledger_url) as connected,
        pytest.raises(LedgerUnavailable),
        connected._database.connection() as connection,
    ):
        connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def test_a_closed_ledger_says_so(ledger: Ledger, ledger_url: str) -> None:
    with Ledger.connect(ledger_url) as connected:
        book = connected.create_book(a_spec())
    with pytest.raises(LedgerError, match="closed"):
        book.post(an_entry())


def test_importing_the_ledger_loads_no_driver() -> None:
    program = (
        "import sys; from bookkeeping.ledger import BookSpec, Entry, Line, Posted, LedgerRefusal;"
        "print(sorted({'psycopg', 'psycopg_pool', 'sqlalchemy', 'alembic', 'rfc8785'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
