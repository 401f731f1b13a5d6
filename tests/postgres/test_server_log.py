"""The server's log is kept, and does not grow without end."""

import os
import signal
from pathlib import Path

import psycopg
import pytest

from eval_pipeline.postgres import PostgresUnavailable, embedded
from eval_pipeline.postgres.os_process import death_with_parent
from eval_pipeline.postgres.server_log import ServerLog, open_log


def written(path: Path, words: bytes, limit_bytes: int) -> str:
    log = ServerLog(path, limit_bytes)
    server_end = os.dup(log.writer)
    log.start()
    os.write(server_end, words)
    os.close(server_end)
    return log.drain()


def test_what_the_server_says_is_kept(tmp_path: Path) -> None:
    assert written(tmp_path / "log", b"one\n", 100) == "one\n"
    assert written(tmp_path / "log", b"two\n", 100) == "two\n"
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"


def test_a_full_log_is_put_aside_and_the_one_before_goes(tmp_path: Path) -> None:
    for word in (b"first_\n", b"second\n", b"third_\n"):
        written(tmp_path / "log", word, 10)
    assert (tmp_path / "log").read_bytes() == b"third_\n"
    assert (tmp_path / "log.1").read_bytes() == b"second\n"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_log_that_cannot_be_put_aside_does_not_stop_the_server(tmp_path: Path) -> None:
    (tmp_path / "log.1" / "in the way").mkdir(parents=True)
    written(tmp_path / "log", b"first_\n", 10)
    assert written(tmp_path / "log", b"second\n", 10) == "second\n"


def test_a_link_in_the_place_of_the_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to(tmp_path / "precious")
    with pytest.raises(PostgresUnavailable, match=r"cannot write .*log"):
        open_log(tmp_path / "log")
    assert not (tmp_path / "precious").exists()


def test_statements_are_not_logged(home: Path) -> None:
    statement = "SELECT planted_column, 'planted secret'"
    with embedded(home) as server, pytest.raises(psycopg.errors.UndefinedColumn):
        psycopg.connect(server.url).execute(statement)
    log = (home / "postgres.log").read_text()
    assert "planted_column" in log  # the error is
    assert "planted secret" not in log


def test_other_systems_than_linux_have_no_death_with_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert death_with_parent(signal.SIGINT) is None
