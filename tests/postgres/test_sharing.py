"""Commands of one home share a server, and nothing of it is left when the last one is gone, however it went."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from eval_pipeline.postgres import embedded, ensure_database, reachable
from tests.postgres.commands import Commands, assert_stopped, is_gone, kill, on_linux, postmaster_of, wait_for


def answer(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT 42").fetchone()
        assert row is not None
        return int(row[0])


def answers(url: str) -> bool:
    try:
        return answer(url) == 42
    except psycopg.OperationalError:
        return False


def test_the_first_command_starts_the_server_and_the_second_attaches(commands: Commands) -> None:
    first, second = commands.start().used(), commands.start().used()
    assert (first.started_here, second.started_here) == (True, False)
    assert (first.url, first.data, first.supervisor) == (second.url, second.data, second.supervisor)
    assert answer(second.url) == 42


def test_nothing_runs_when_the_last_command_has_left(commands: Commands) -> None:
    first, second = commands.start(), commands.start()
    server = first.used()
    first.leave()
    second.leave()
    assert_stopped(server)  # at once: the last command waits for it


def test_the_second_command_keeps_the_server_when_the_first_leaves(commands: Commands) -> None:
    first, second = commands.start(), commands.start()
    first.leave()
    assert answer(second.used().url) == 42


def test_the_second_command_keeps_the_server_when_the_first_is_killed(commands: Commands) -> None:
    first, second = commands.start(), commands.start()
    first.kill()
    assert answer(second.used().url) == 42
    second.leave()
    assert_stopped(second.used())


def test_a_killed_command_leaves_nothing_running(commands: Commands) -> None:
    command = commands.start()
    command.kill()
    wait_for(is_gone(command.used()))


def test_a_command_ended_by_ctrl_c_leaves_nothing_running(commands: Commands) -> None:
    command = commands.start()
    command.process.send_signal(signal.SIGINT)
    command.process.wait()
    assert_stopped(command.used())


def test_ctrl_c_on_the_terminal_of_the_first_command_does_not_reach_the_server(commands: Commands) -> None:
    # The terminal signals a process group; the server and its supervisor are in others.
    server = commands.start().used()
    ours = os.getpgid(0)
    assert ours not in (os.getpgid(server.supervisor), os.getpgid(postmaster_of(server).pid))


def test_many_commands_at_once_on_a_new_home_make_one_database(first_commands: Commands) -> None:
    begun = [first_commands.begin() for _ in range(5)]
    servers = [first_commands.wait(command).used() for command in begun]
    assert sum(server.started_here for server in servers) == 1
    assert len({(server.url, server.supervisor) for server in servers}) == 1
    assert not list(first_commands.home.glob("postgres.building*"))


def test_uses_in_one_process_share_the_server(home: Path) -> None:
    with embedded(home) as outer:
        with embedded(home) as inner:
            assert not inner.started_here
        assert answer(outer.url) == 42
    assert_stopped(outer)


_CHURN = """
import sys, time, psycopg
from pathlib import Path
from eval_pipeline.postgres import embedded
end = time.monotonic() + 3
while time.monotonic() < end:
    with embedded(Path(sys.argv[1])) as server, psycopg.connect(server.url) as connection:
        connection.execute("SELECT 1")
    time.sleep(float(sys.argv[2]))
"""


def test_commands_that_come_and_go_all_find_a_server(home: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", _CHURN, str(home), str(pause)], stderr=subprocess.PIPE, text=True)
        for pause in (0, 0.03, 0.07)
    ]
    failures = [worker.communicate(timeout=90)[1] for worker in workers]
    assert failures == ["", "", ""]


def test_a_server_that_dies_is_worded_and_the_next_command_starts_it_again(commands: Commands) -> None:
    first = commands.start().used()
    results = ensure_database(first.url, "results")
    with psycopg.connect(results) as connection:
        connection.execute("CREATE TABLE kept (n int)")
        connection.execute("INSERT INTO kept VALUES (7)")
    postmaster_of(first).kill()
    wait_for(is_gone(first))
    assert reachable(results) == f"no Postgres reachable at {first.data}:5432"

    second = commands.start().used()
    assert second.started_here
    assert second.url == first.url  # so the first command's next connection works again, too
    with psycopg.connect(results) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (7,)


def test_a_killed_backend_does_not_take_the_server_away(commands: Commands) -> None:
    server = commands.start().used()
    with pytest.raises(psycopg.OperationalError), psycopg.connect(server.url) as connection:
        kill(connection.info.backend_pid)
        connection.execute("SELECT 1")
    wait_for(lambda: answers(server.url))  # the server ends all its backends and starts over


@on_linux
def test_a_killed_supervisor_takes_the_server_with_it(commands: Commands) -> None:
    server = commands.start().used()
    kill(server.supervisor)
    wait_for(is_gone(server))
    assert commands.start().used().started_here


def test_a_supervisor_that_is_told_to_stop_stops_the_server(commands: Commands) -> None:
    server = commands.start().used()
    os.kill(server.supervisor, signal.SIGTERM)
    wait_for(is_gone(server))
    assert not (server.data / "postmaster.pid").exists()  # it was shut down, not killed


@pytest.mark.parametrize("order", list(itertools.permutations(["command", "supervisor", "postmaster"])))
def test_whatever_is_killed_in_whatever_order_the_next_command_works(commands: Commands, order: list[str]) -> None:
    command = commands.start()
    server = command.used()
    pids = {
        "command": command.process.pid,
        "supervisor": server.supervisor,
        "postmaster": postmaster_of(server).pid,
    }
    for victim in order:
        kill(pids[victim])
    following = commands.start()
    assert answer(following.used().url) == 42
    following.leave()
    assert_stopped(following.used())
