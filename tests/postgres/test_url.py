"""What is asked of any Postgres by its URL."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.postgres import (
    PostgresUnavailable,
    Server,
    dagster_url,
    ensure_database,
    normalise_url,
    reachable,
)
from eval_pipeline.postgres.url import with_database


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("postgresql://u:p@h:1/d", "postgresql://u:p@h:1/d"),
        ("postgres://u:p@h:1/d", "postgresql://u:p@h:1/d"),
        ("postgresql+psycopg2://u:p@h:1/d?sslmode=require", "postgresql://u:p@h:1/d?sslmode=require"),
        ("postgresql+psycopg://@/d?host=/s", "postgresql://@/d?host=/s"),
        (" postgresql://h/d\n", "postgresql://h/d"),
        ("postgresql://u:a://b@h/d", "postgresql://u:a://b@h/d"),
    ],
)
def test_a_url_is_normalised(written: str, normal: str) -> None:
    assert normalise_url(written) == normal


@pytest.mark.parametrize("written", ["mysql://u:secret@h/d", "host=h password=secret", "", "postgresqlite://secret@h"])
def test_a_url_of_something_else_is_refused_without_its_password(written: str) -> None:
    with pytest.raises(ValueError, match="not a Postgres URL") as raised:
        normalise_url(written)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg", "postgresql+psycopg2"])
def test_dagster_gets_the_driver_that_it_ships(scheme: str) -> None:
    assert dagster_url(f"{scheme}://u:p@h/d") == "postgresql+psycopg2://u:p@h/d"


@given(st.sampled_from(["", "+psycopg", "+psycopg2"]), st.from_regex(r"\A[a-z0-9@:/?=.%]{0,30}\Z"))
def test_normalising_twice_changes_nothing(driver: str, rest: str) -> None:
    once = normalise_url(f"postgresql{driver}://{rest}")
    assert normalise_url(once) == once == normalise_url(dagster_url(once))


@pytest.mark.parametrize(
    ("url", "name", "other"),
    [
        ("postgresql://u:p@h:1/d?sslmode=require", "e", "postgresql://u:p@h:1/e?sslmode=require"),
        ("postgresql://h", "e", "postgresql://h/e"),
        ("postgresql://h?connect_timeout=3", "e", "postgresql://h/e?connect_timeout=3"),
        ("postgresql://postgres@/postgres?host=/s&port=5432", "e", "postgresql://postgres@/e?host=/s&port=5432"),
        ("postgres://h/d", "a/b?c d", "postgresql://h/a%2Fb%3Fc%20d"),
    ],
)
def test_the_url_of_another_database_keeps_all_else(url: str, name: str, other: str) -> None:
    assert with_database(url, name) == other


def test_a_server_that_runs_is_reachable(postgres_server: Server) -> None:
    assert reachable(postgres_server.url) is None


def test_a_missing_database_is_no_missing_server(postgres_server: Server) -> None:
    assert reachable(postgres_server.database_url("not_there")) is None


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("postgresql://u:secret@127.0.0.1:1/d", "127.0.0.1:1"),
        ("postgresql://u:secret@[::1]:1/d", "[::1]:1"),
        ("postgresql://u:secret@127.0.0.1:1,127.0.0.2:2/d", "127.0.0.1:1, 127.0.0.2:2"),
        ("postgresql://u:secret@/d?host=/no/such/folder", "/no/such/folder:5432"),
        ("postgresql+psycopg2://u:secret@/d?host=/no/such/folder&port=7", "/no/such/folder:7"),
        ("postgresql://u:secret@%2Fno%2Fsuch%2Ffolder/d", "/no/such/folder:5432"),
        ("postgresql://u:secret@no-such-host.invalid/d", "no-such-host.invalid:5432"),
    ],
)
def test_a_server_that_is_not_there_is_named_without_the_password(
    url: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPORT", raising=False)
    assert reachable(url, timeout_s=1) == f"no Postgres reachable at {where}"


@pytest.mark.parametrize(
    "url", ["postgresql://u:secret@h:port/d", "postgresql://u:secret@h:99999999999/d", "mysql://secret@h"]
)
def test_a_url_that_cannot_be_read_is_no_crash(url: str) -> None:
    reason = reachable(url, timeout_s=1)
    assert reason is not None
    assert reason.startswith("no Postgres reachable")
    assert "secret" not in reason


@given(st.text(max_size=40))
def test_no_text_makes_it_raise(text: str) -> None:
    # Socket folders only: no text may lead to somebody's machine.
    reason = reachable(f"postgresql://u@/d?port={text}&host=/no/such/folder", timeout_s=0.1)
    assert reason is None or reason.startswith("no Postgres reachable")


def test_the_port_of_the_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "7")
    assert reachable("postgresql:///d?host=/no/such/folder") == "no Postgres reachable at /no/such/folder:7"


def test_the_port_of_the_environment_does_not_lead_away_from_the_embedded_server(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "7")
    assert reachable(postgres_server.url) is None
    psycopg.connect(postgres_server.url).close()


@contextmanager
def answering(words: bytes) -> Iterator[int]:
    """A port where somebody says these words to whoever connects, once."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1024)
                connection.sendall(words)

        thread = threading.Thread(target=answer)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(5)


def error(sqlstate: bytes) -> bytes:
    fields = b"SFATAL\0VFATAL\0C" + sqlstate + b"\0Mwords\0\0"
    return b"E" + (len(fields) + 4).to_bytes(4, "big") + fields


@pytest.mark.parametrize(
    ("words", "is_there"),
    [
        (b"R\0\0\0\x08\0\0\0\3", True),  # asks for a password
        (error(b"28000"), True),  # wants another user
        (error(b"3D000"), True),  # has no such database
        (error(b"57P03"), False),  # is starting up
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False),
        (b"", False),
        (b"R", False),
    ],
)
def test_only_the_words_of_a_postgres_that_serves_count(words: bytes, is_there: bool) -> None:
    with answering(words) as port:
        assert (reachable(f"postgresql://127.0.0.1:{port}/d", timeout_s=2) is None) == is_there


def test_a_listener_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        reason = reachable(f"postgresql://127.0.0.1:{port}/d", timeout_s=0.2)
    assert reason == f"no Postgres reachable at 127.0.0.1:{port}"


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_both_drivers_read_the_url_of_the_embedded_server(database_url: str, driver: str) -> None:
    url = database_url.replace("postgresql://", f"postgresql+{driver}://")
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as connection:
        name = connection.execute(sqlalchemy.text("SELECT current_database()")).scalar_one()
    assert f"/{name}?" in database_url
    engine.dispose()


def test_a_database_is_made_once(database_url: str, postgres_server: Server) -> None:
    name = f"made_{id(database_url)}"
    try:
        url = ensure_database(postgres_server.url, name)
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept ()")
        assert ensure_database(postgres_server.url, name) == url == postgres_server.database_url(name)
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT to_regclass('kept') IS NOT NULL").fetchone() == (True,)
    finally:
        drop(postgres_server, name)


def test_a_database_that_many_make_at_once_is_made_once(postgres_server: Server) -> None:
    name = 'both "at" once; ü'
    try:
        with ThreadPoolExecutor(8) as pool:
            urls = list(pool.map(lambda _: ensure_database(postgres_server.url, name), range(8)))
        assert len(set(urls)) == 1
        with psycopg.connect(urls[0]) as connection:
            assert connection.execute("SELECT current_database()").fetchone() == (name,)
    finally:
        drop(postgres_server, name)


def test_a_database_cannot_be_made_where_no_server_is() -> None:
    url = "postgresql://u:secret@127.0.0.1:1/d"
    with pytest.raises(PostgresUnavailable, match=r"no Postgres reachable at 127\.0\.0\.1:1; start it") as raised:
        ensure_database(url, "e")
    assert "secret" not in str(raised.value)


def test_a_user_that_may_not_make_a_database_is_told(database_url: str, postgres_server: Server) -> None:
    role = f"role_{id(database_url)}"
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'")
    try:
        url = postgres_server.url.replace("postgres@", f"{role}:secret@")
        with pytest.raises(
            PostgresUnavailable, match=r'database "e" is missing .* or give the user CREATEDB'
        ) as raised:
            ensure_database(url, "e")
        assert "secret" not in str(raised.value)
    finally:
        with psycopg.connect(postgres_server.url, autocommit=True) as connection:
            connection.execute(f"DROP ROLE {role}")


def test_text_is_ordered_alike_on_every_machine(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        found = connection.execute("SELECT w FROM unnest(ARRAY['b','Z','ä','a']) w ORDER BY w").fetchall()
        assert [word for (word,) in found] == ["Z", "a", "b", "ä"]  # by code point
        assert connection.execute("SELECT upper('ä'), current_setting('server_encoding')").fetchone() == ("Ä", "UTF8")


def drop(server: Server, name: str) -> None:
    quoted = psycopg.sql.Identifier(name)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(psycopg.sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(quoted))
