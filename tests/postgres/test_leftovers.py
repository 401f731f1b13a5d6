"""What a killed server, an interrupted initdb or a full disk leave behind does not stop the next command."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from eval_pipeline.postgres import PostgresUnavailable, cluster, embedded
from eval_pipeline.postgres.os_process import end, running_in
from eval_pipeline.postgres.os_user import server_user
from tests.postgres.commands import Commands, is_alive, kill, on_linux, postmaster_of, wait_for

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become other users and to mount")


@pytest.fixture
def sleeper(home: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of the server's user that is no server: Postgres takes it for one, by its number alone."""
    user = server_user(home, home / "postgres")
    process = subprocess.Popen(["sleep", "300"], **user.as_arguments())
    yield process
    process.kill()
    process.wait()


def plant(path: Path, pid: int, data: Path) -> None:
    """A lock file as Postgres writes it, owned as the data are."""
    path.write_text(f"{pid}\n{data}\n1700000000\n5432\n{data}\n\n  1 1\n")
    owner = data.stat()
    os.chown(path, owner.st_uid, owner.st_gid)


@pytest.mark.parametrize("name", ["postmaster.pid", ".s.PGSQL.5432.lock"])
def test_a_stale_lock_file_with_a_reused_number_is_removed(
    home: Path, sleeper: "subprocess.Popen[bytes]", name: str
) -> None:
    data = home / "postgres"
    plant(data / name, sleeper.pid, data)
    with embedded(home) as server:
        psycopg.connect(server.url).close()
    assert sleeper.poll() is None  # it was looked at, not ended


def test_a_stale_lock_file_with_the_number_of_a_zombie_is_removed(
    home: Path, sleeper: "subprocess.Popen[bytes]"
) -> None:
    sleeper.kill()
    wait_for(lambda: not is_alive(sleeper.pid))  # nobody has waited for it: a zombie
    plant(home / "postgres" / "postmaster.pid", sleeper.pid, home / "postgres")
    with embedded(home) as server:
        psycopg.connect(server.url).close()


@pytest.mark.parametrize("content", ["", "not a number\n", "\x00\xff"])
def test_a_torn_lock_file_is_removed(home: Path, content: str) -> None:
    (home / "postgres" / "postmaster.pid").write_text(content, encoding="latin-1")
    with embedded(home) as server:
        psycopg.connect(server.url).close()


def test_a_busy_backend_that_survived_its_server_is_ended(commands: Commands) -> None:
    command = commands.start()
    server = command.used()

    def compute() -> None:
        with suppress(psycopg.OperationalError), psycopg.connect(server.url) as connection:
            connection.execute("DO $$ BEGIN LOOP NULL; END LOOP; END $$")

    query = threading.Thread(target=compute)
    query.start()
    with psycopg.connect(server.url, autocommit=True) as connection:  # a transaction would see the same list for ever
        running = "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%LOOP NULL%'"
        mine = " AND pid <> pg_backend_pid()"
        wait_for(lambda: connection.execute(running + mine).fetchone() is not None)
        row = connection.execute(running + mine).fetchone()
    assert row is not None
    postmaster = postmaster_of(server).pid
    os.kill(server.supervisor, signal.SIGSTOP)  # else it would end what the postmaster leaves
    for pid in (postmaster, server.supervisor, command.process.pid):
        kill(pid)
    wait_for(lambda: not is_alive(server.supervisor))
    assert is_alive(row[0])  # it computes, and has not noticed

    following = commands.start().used()
    assert not is_alive(row[0])
    psycopg.connect(following.url).close()
    query.join(60)
    assert not query.is_alive()


def test_an_initdb_that_was_interrupted_is_begun_again(first_commands: Commands) -> None:
    building = first_commands.home / "postgres.building.x1"
    building.mkdir()
    (building / "PG_VERSION").write_text("18\n")  # written early: it looks finished
    psycopg.connect(first_commands.start().used().url).close()
    assert not building.exists()


@on_linux
def test_a_supervisor_killed_while_it_makes_the_database_costs_only_the_time(first_commands: Commands) -> None:
    home = first_commands.home
    killed = first_commands.begin()
    wait_for(lambda: any(path.exists() for path in home.glob("postgres.building.*/PG_VERSION")))
    killed.kill()
    supervisors = [int(found) for found in _lock_holders(home / "postgres.supervisor")]
    assert supervisors
    for pid in supervisors:
        kill(pid)
    server = first_commands.start().used()
    psycopg.connect(server.url).close()
    wait_for(lambda: not any(running_in(path) for path in home.glob("postgres.building.*")))


def _lock_holders(path: Path) -> list[str]:
    """The processes that hold a flock on a file, as the kernel lists them."""
    inode = f":{path.stat().st_ino}"
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return [line[4] for line in lines if line[1] == "FLOCK" and line[3] == "WRITE" and line[5].endswith(inode)]


def test_data_of_another_major_version_are_refused_and_kept(home: Path) -> None:
    (home / "postgres" / "PG_VERSION").write_text("15\n")
    with (
        pytest.raises(
            PostgresUnavailable, match=r"was written by Postgres 15 and the embedded one is 18: move"
        ) as raised,
        embedded(home),
    ):
        pass
    assert str(home / "postgres") in str(raised.value)
    assert (home / "postgres" / "base").exists()


def test_something_else_in_the_place_of_the_data_is_refused_and_kept(reachable_home: Path) -> None:
    (reachable_home / "postgres").mkdir()
    (reachable_home / "postgres" / "notes.txt").write_text("mine")
    with (
        pytest.raises(PostgresUnavailable, match="is in the way and no database of Postgres"),
        embedded(reachable_home),
    ):
        pass
    assert (reachable_home / "postgres" / "notes.txt").read_text() == "mine"


def test_a_setting_that_postgres_refuses_is_quoted(home: Path) -> None:
    (home / "postgres" / "postgresql.auto.conf").write_text("work_mem = 'plenty'\n")
    with pytest.raises(PostgresUnavailable, match=r"did not start .*work_mem") as raised, embedded(home):
        pass
    assert 'LOG:  invalid value for parameter "work_mem": "plenty"' in str(raised.value)


def test_a_home_that_is_removed_under_the_server_lets_the_command_leave(reachable_home: Path, home: Path) -> None:
    with embedded(home) as server:
        for path in home.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    wait_for(lambda: not is_alive(server.supervisor))
    assert running_in(server.data) == []


@pytest.fixture
def small_disk(tmp_path_factory: pytest.TempPathFactory, reachable_home: Path) -> Iterator[Path]:
    """A file system of 30 MB, too small for a database."""
    disk = reachable_home / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=30m,mode=0711", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount: {mounted.stderr.decode().strip()}")
    yield disk
    # A supervisor that has reported why it cannot run holds its log for some moments more.
    wait_for(lambda: subprocess.run(["umount", disk], check=False, capture_output=True).returncode == 0)


def test_a_server_that_starts_does_not_fill_its_log_with_refusals(home: Path) -> None:
    with embedded(home):
        pass
    assert "FATAL" not in (home / "postgres.log").read_text()


@as_root
def test_a_disk_too_small_for_the_database_is_said(small_disk: Path) -> None:
    with pytest.raises(PostgresUnavailable, match=r"the disk of .* is full \(\d+ MiB"), embedded(small_disk):
        pass
    assert not (small_disk / "postgres").exists()
    assert not list(small_disk.glob("postgres.building*"))


@as_root
def test_a_disk_that_is_full_at_the_start_is_said(small_disk: Path, home: Path) -> None:
    data = home / "postgres"
    disk_data = small_disk / "postgres"
    shutil.rmtree(data / "pg_wal")  # 16 MB that are not looked at before the lock file is written
    subprocess.run(["cp", "-a", data, disk_data], check=True)
    with pytest.raises(OSError, match="No space left"), (small_disk / "filler").open("wb") as filler:
        while True:
            filler.write(b"\0" * 2**20)
            filler.flush()
    with pytest.raises(PostgresUnavailable, match=r"the disk of .* is full"), embedded(small_disk):
        pass


def test_the_reason_of_a_program_is_found_in_its_words() -> None:
    words = "LOG:  starting\nFATAL:  could not open file: Permission denied\nHINT:  Look at it.\nLOG:  shut down\n"
    said = cluster.explain("it failed", words, 2**30, Path("/d"))
    assert said == "it failed: FATAL:  could not open file: Permission denied / HINT:  Look at it."


def test_signals_follow_one_another_until_a_process_is_gone() -> None:
    stubborn = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal, time; signal.signal(2, signal.SIG_IGN); print(flush=True); time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
    )
    assert stubborn.stdout is not None
    stubborn.stdout.readline()
    end([psutil.Process(stubborn.pid)], (signal.SIGINT, signal.SIGKILL), 0.4)
    assert stubborn.wait(5) == -signal.SIGKILL
    stubborn.stdout.close()
