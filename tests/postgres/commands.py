"""Commands of a home, as other processes: they use its server until they are told to leave, or are killed."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from eval_pipeline.postgres import Server
from eval_pipeline.postgres.os_process import running_in
from eval_pipeline.postgres.os_user import OsUser, RunAs

_COMMAND = """
import json, sys
from pathlib import Path
from eval_pipeline.postgres import PostgresUnavailable, embedded
try:
    with embedded(Path(sys.argv[1])) as server:
        print(json.dumps([server.url, server.started_here, str(server.data), server.supervisor]), flush=True)
        sys.stdin.read()
except PostgresUnavailable as error:
    print(json.dumps(str(error)), flush=True)
"""
PATIENCE_S = 60.0

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")


@dataclass
class Command:
    """A running command and the server that it got, or its error."""

    process: "subprocess.Popen[str]"
    server: Server | None = None
    error: str | None = None

    def leave(self) -> None:
        """Ends it as a command ends that has done its work."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(PATIENCE_S) == 0

    def kill(self) -> None:
        """Ends it with SIGKILL."""
        self.process.kill()
        self.process.wait()

    def used(self) -> Server:
        """The server; the command must have got one."""
        assert self.server is not None, self.error
        return self.server


class Commands:
    """All commands that a test starts on one home; `close` ends what is left of them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._all: list[Command] = []

    def begin(
        self,
        user: OsUser | None = None,
        environment: dict[str, str] | None = None,
        groups: list[int] | None = None,
    ) -> Command:
        """Starts a command, perhaps as another user or in more groups, without waiting for its server."""
        identity: RunAs = user.as_arguments() if user else {}
        if groups is not None:
            identity = {**identity, "extra_groups": groups}
        environment = {**os.environ, **(environment or {})}
        process = subprocess.Popen(
            [environment.get("TEST_PYTHON", sys.executable), "-c", _COMMAND, str(self.home)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            cwd="/", **identity,
        )  # fmt: skip
        self._all.append(Command(process))
        return self._all[-1]

    def wait(self, command: Command) -> Command:
        """Waits until the command has its server or its error."""
        assert command.process.stdout is not None
        assert select.select([command.process.stdout], [], [], PATIENCE_S)[0], "no word of the command"
        said = json.loads(command.process.stdout.readline())
        if isinstance(said, str):
            command.error = said
        else:
            command.server = Server(said[0], said[1], Path(said[2]), said[3])
        return command

    def start(self, user: OsUser | None = None, environment: dict[str, str] | None = None) -> Command:
        """Starts a command that has its server, or its error, when this returns."""
        return self.wait(self.begin(user, environment))

    def close(self) -> None:
        """Kills the commands and waits until their servers are gone."""
        for command in self._all:
            command.kill()
            assert command.process.stdin is not None
            assert command.process.stdout is not None
            with suppress(BrokenPipeError):
                command.process.stdin.close()
            command.process.stdout.close()
        for command in self._all:
            if command.server is not None:
                wait_for(is_gone(command.server))


def postmaster_of(server: Server) -> psutil.Process:
    """The server's first process."""
    return psutil.Process(int((server.data / "postmaster.pid").read_text().split("\n")[0]))


def is_gone(server: Server) -> Callable[[], bool]:
    """Asks whether nothing of the server runs: no supervisor, no process on its data."""

    def ask() -> bool:
        return not is_alive(server.supervisor) and not running_in(server.data)

    return ask


def assert_stopped(server: Server) -> None:
    """Nothing runs on the data now; the supervisor, which let go of its lock with its last act, ends."""
    assert running_in(server.data) == []
    wait_for(is_gone(server))


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill(pid: int) -> None:
    """SIGKILL, if it is there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits for what must come about."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
