"""Where a home's server keeps its data and its socket, when the obvious place will not do."""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from eval_pipeline.postgres import PostgresUnavailable, embedded, place, record
from eval_pipeline.postgres.os_user import OsUser, server_user
from eval_pipeline.postgres.record import Record
from tests.postgres.commands import assert_stopped

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who runs the server as somebody else")


def modes(folders: list[Path]) -> list[int]:
    return [stat.S_IMODE(folder.stat().st_mode) for folder in folders]


@pytest.fixture
def locked_home(reachable_home: Path) -> Iterator[Path]:
    """A home below a folder that only root can enter, as below /root."""
    locked = reachable_home / "locked"
    locked.mkdir(mode=0o700)
    home = locked / "project" / ".eval-pipeline"
    yield home
    shutil.rmtree(place.ELSEWHERE / place.digest_of(home.resolve()), ignore_errors=True)


@as_root
def test_data_that_the_servers_user_cannot_reach_go_elsewhere_and_no_folder_is_opened(locked_home: Path) -> None:
    with embedded(locked_home) as server, psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept ()")
    assert server.data == place.ELSEWHERE / place.digest_of(locked_home.resolve()) / "postgres"
    assert not (locked_home / "postgres").exists()
    assert modes([locked_home.parents[1], server.data]) == [0o700, 0o700]
    found = record.read(locked_home)
    assert found is not None
    assert found.data == server.data

    with embedded(locked_home) as again, psycopg.connect(again.url) as connection:
        assert again.data == server.data
        connection.execute("SELECT FROM kept")


@as_root
def test_data_elsewhere_follow_a_home_that_is_moved(locked_home: Path) -> None:
    with embedded(locked_home) as server:
        pass
    moved = locked_home.with_name("moved")
    locked_home.rename(moved)
    with embedded(moved) as again:
        assert again.data == server.data


@as_root
def test_data_elsewhere_come_back_to_a_home_that_is_removed_and_made_again(locked_home: Path) -> None:
    with embedded(locked_home) as server:
        pass
    shutil.rmtree(locked_home)
    with embedded(locked_home) as again:
        assert again.data == server.data


@as_root
def test_a_new_home_where_another_was_moved_away_has_data_of_its_own(locked_home: Path) -> None:
    with embedded(locked_home) as server:
        pass
    moved = locked_home.with_name("moved")
    locked_home.rename(moved)
    with embedded(moved) as first:
        assert first.data == server.data
    with embedded(locked_home) as second, embedded(moved):
        assert second.data != server.data
    shutil.rmtree(second.data.parent)


@as_root
def test_data_elsewhere_are_not_shared_with_a_copy_of_the_home(locked_home: Path) -> None:
    with embedded(locked_home) as server:
        pass
    copy = locked_home.with_name("copy")
    shutil.copytree(locked_home, copy)
    try:
        with embedded(copy) as other, embedded(locked_home) as original:
            assert other.data != server.data
            assert original.data == server.data
    finally:
        shutil.rmtree(other.data.parent)


def test_a_copy_of_a_home_has_data_of_its_own(home: Path) -> None:
    with embedded(home) as server:
        pass
    copy = home / "copy"
    copy.mkdir()
    for name in ("postgres", "postgres.json"):
        subprocess.run(["cp", "-a", home / name, copy / name], check=True)
    with embedded(copy) as other, embedded(home) as original:
        assert other.data == copy / "postgres"
        assert original.data == server.data
        assert other.url != original.url


@pytest.mark.parametrize(
    "name", ["long" * 30, "with space", "comma,comma", "per%cent", "plus+plus", 'quote"quote', "ü"]
)
def test_a_path_that_a_socket_or_a_url_cannot_hold_gets_a_short_private_one(home: Path, name: str) -> None:
    odd = home / name
    odd.mkdir()
    (home / "postgres").rename(odd / "postgres")
    with embedded(odd) as server:
        assert server.data == odd / "postgres"
        psycopg.connect(server.url).close()
        found = record.read(odd)
        assert found is not None
        assert found.sockets.parent == place.SHORT
        assert place.is_private(found.sockets, server.data.stat().st_uid)
        assert "%" not in server.url
    assert_stopped(server)
    assert not found.sockets.exists()


@pytest.mark.parametrize("planted", ["folder for all", "link to a folder", "file"])
def test_what_another_user_put_in_the_place_of_the_socket_is_not_used(
    home: Path, planted: str, elsewhere: list[Path]
) -> None:
    long = home / ("long" * 30)
    long.mkdir()
    (home / "postgres").rename(long / "postgres")
    guessed = place.SHORT / f"eval-pg-{place.digest_of(long / 'postgres')}"
    elsewhere.append(guessed)
    trap = home / "trap"
    trap.mkdir()
    if planted == "folder for all":
        guessed.mkdir()
        guessed.chmod(0o777)
    elif planted == "link to a folder":
        guessed.symlink_to(trap)
    else:
        guessed.touch()
    with embedded(long) as server:
        psycopg.connect(server.url).close()
        assert str(guessed) not in server.url
        assert list(trap.iterdir()) == []
    guessed.unlink() if not guessed.is_dir() or guessed.is_symlink() else guessed.rmdir()


def test_a_socket_folder_of_another_owner_is_not_private(tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir(mode=0o700)
    assert place.is_private(folder, os.geteuid())
    assert not place.is_private(folder, os.geteuid() + 1)
    folder.chmod(0o710)
    assert not place.is_private(folder, os.geteuid())
    assert not place.is_private(tmp_path / "missing", os.geteuid())


def test_a_short_socket_folder_left_by_a_kill_is_used_again(home: Path, elsewhere: list[Path]) -> None:
    user = server_user(home, None)
    data = Path("/x") / ("long" * 30)
    first = place.socket_folder(data, user, None)
    elsewhere.append(first)
    assert place.socket_folder(data, user, None) == first
    assert place.socket_folder(data, user, first) == first


@pytest.mark.parametrize(("system", "limit"), [("linux", 107), ("darwin", 103)])
def test_the_length_of_a_socket_path_is_the_systems(monkeypatch: pytest.MonkeyPatch, system: str, limit: int) -> None:
    monkeypatch.setattr("sys.platform", system)
    assert place.socket_path_limit() == limit
    user = OsUser(os.geteuid(), os.getegid(), switch=False)
    fits = Path("/" + "x" * (limit - len("//.s.PGSQL.5432")))
    assert place.socket_folder(fits, user, None) == fits
    short = place.socket_folder(Path(f"{fits}x"), user, None)
    assert short.parent == place.SHORT
    short.rmdir()


def test_no_place_for_the_data_is_said(reachable_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (reachable_home / "a_file").touch()
    monkeypatch.setattr(place, "ELSEWHERE", reachable_home / "a_file")
    monkeypatch.setenv("XDG_DATA_HOME", str(reachable_home / "a_file"))
    home = reachable_home / "missing" / "home"  # a home on a disk that is gone
    with pytest.raises(PostgresUnavailable, match=r"no folder for the data of Postgres: .* choose another home"):
        place.new_data(home, server_user(reachable_home, None))


def test_a_home_that_cannot_be_made_is_said(reachable_home: Path) -> None:
    (reachable_home / "file").touch()
    with (
        pytest.raises(PostgresUnavailable, match=r"cannot make the folder .*file/home"),
        embedded(reachable_home / "file" / "home"),
    ):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", '{"home": 1}', "\x00"])
def test_a_record_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / record.NAME).write_text(text)
    assert record.read(tmp_path) is None


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = Record(home=tmp_path, data=Path("/d ü"), sockets=Path("/s"), supervisor=7, ready=True)
    record.write(written)
    assert record.read(tmp_path) == written
    record.retire(written)
    assert record.read(tmp_path) == Record(home=tmp_path, data=Path("/d ü"), sockets=Path("/s"))


def test_nobody_else_can_connect(home: Path) -> None:
    with embedded(home) as server:
        found = record.read(home)
        assert found is not None
        socket = found.sockets / ".s.PGSQL.5432"
        assert modes([found.sockets, socket]) == [0o700, 0o700]
        with psycopg.connect(server.url) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
