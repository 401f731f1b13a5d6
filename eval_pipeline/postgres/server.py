"""The server of a home, as its commands share it.

Each command holds the home's users lock, shared, for as long as it uses the server. A supervisor, which is the
server's parent and nobody's child, waits to get that lock alone: then nobody is left, and it stops the server. So it
does not matter which command came first, which ends first, or how: the kernel drops the lock of a killed one.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.postgres import record, supervision
from eval_pipeline.postgres.errors import PostgresUnavailable
from eval_pipeline.postgres.locks import POLL_S, LockFile, wait_until
from eval_pipeline.postgres.server_log import open_log
from eval_pipeline.postgres.url import reachable, with_database

# What a supervisor sees of our environment: nothing that it does not need, so none of our secrets.
_ENVIRONMENT = (
    "EVAL_POSTGRES_OS_USER", "HOME", "LD_LIBRARY_PATH", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "TMPDIR",
    "XDG_DATA_HOME",
)  # fmt: skip
_LOOKS_TO_BE_SURE = 3


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its URL (`postgresql://`, no driver), and whether this command had to start it.

    `supervisor` is the process to leave alone for whoever ends the processes that a command left behind.
    """

    url: str
    started_here: bool
    data: Path
    supervisor: int

    def database_url(self, name: str) -> str:
        """Returns the URL of a database of this server, there or not (`ensure_database` makes it)."""
        return with_database(self.url, name)


@contextmanager
def embedded(home: Path) -> Iterator[Server]:
    """Yields the server of this home, started if no other command runs it; the last one to leave waits for its end.

    Makes the home when it is missing. A child made by fork alone (no exec) counts as a user until it ends. Raises
    PostgresUnavailable with the reason. When the server dies in the body, connections fail (`reachable` words it),
    and the next `embedded` starts it again.
    """
    if sys.platform == "win32":
        raise PostgresUnavailable("there is no embedded Postgres on Windows: set EVAL_DATABASE_URL and EVAL_LEDGER_URL")
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PostgresUnavailable(f"cannot make the folder {home} ({error.strerror}): choose another home") from error
    home = home.resolve()
    with ExitStack() as handles:  # opened now: the home may be removed before we leave
        users, other_users = (handles.enter_context(LockFile(home / supervision.USERS_LOCK)) for _ in "12")
        supervisor = handles.enter_context(LockFile(home / supervision.SUPERVISOR_LOCK))
        # Somebody has it alone while the server of the last users stops.
        if not wait_until(users.try_shared, supervision.STOP_TIMEOUT_S):
            raise PostgresUnavailable(f"the Postgres of {home} does not stop: see {home / supervision.LOG}")
        try:
            yield _attach_or_start(home, supervisor)
        finally:
            users.close()
            _wait_unless_used(other_users, supervisor)


def _attach_or_start(home: Path, supervisor: LockFile) -> Server:
    """Returns a server that answers. The caller holds the users lock, so it stays."""
    deadline = time.monotonic() + supervision.START_TIMEOUT_S
    while time.monotonic() < deadline:
        if supervisor.is_free():
            if _start_supervisor(home):
                return _recorded(home, started_here=True)
        elif _is_serving(home):
            return _recorded(home, started_here=False)
        time.sleep(POLL_S)
    raise PostgresUnavailable(
        f"another command holds {supervisor.path} and its Postgres does not answer: end that command, or wait for it; "
        f"see {home / supervision.LOG}"
    )


def _is_serving(home: Path) -> bool:
    here = record.read(home)
    return here is not None and here.ready and reachable(supervision.socket_url(here.sockets)) is None


def _recorded(home: Path, *, started_here: bool) -> Server:
    here = record.read(home)
    if here is None or not here.ready:
        raise PostgresUnavailable(f"the Postgres of {home} ended as soon as it ran: see {home / supervision.LOG}")
    return Server(supervision.socket_url(here.sockets), started_here, here.data, here.supervisor)


def _start_supervisor(home: Path) -> bool:
    """Starts a supervisor and waits for its first word; False when another command was faster."""
    from eval_pipeline.postgres import binaries  # a command that finds a server does not pay for it

    binaries.wheel()
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    source = os.fspath(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-P", "-m", "eval_pipeline.postgres.supervisor", os.fspath(home)]
    log = open_log(home / supervision.LOG)
    try:
        process = subprocess.Popen(  # noqa: S603
            command, cwd="/", env={**kept, "PYTHONPATH": path}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
    except OSError as error:
        raise PostgresUnavailable(f"cannot run {sys.executable} to start Postgres: {error.strerror}") from error
    finally:
        os.close(log)
    with process:  # ends at once: the supervisor is its child
        word = _first_line(process, supervision.START_TIMEOUT_S + supervision.STOP_TIMEOUT_S)
    if word not in (supervision.BUSY, supervision.READY):
        raise PostgresUnavailable(word or f"the supervisor of Postgres failed: see {home / supervision.LOG}")
    return word == supervision.READY


def _first_line(process: "subprocess.Popen[bytes]", timeout_s: float) -> str:
    """Returns the text of the JSON line that the process writes; empty when it ends, or the time does, without one."""
    deadline = time.monotonic() + timeout_s
    assert process.stdout is not None
    received = b""
    while not received.endswith(b"\n") and (left := deadline - time.monotonic()) > 0:
        if select.select([process.stdout], [], [], left)[0]:
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                break
            received += chunk
    return str(json.loads(received)) if received.endswith(b"\n") else ""


def _wait_unless_used(users: LockFile, supervisor: LockFile) -> None:
    """Returns when the server is gone, or somebody else uses it, or it does not stop in time (its log says why)."""
    seen = 0

    def is_settled() -> bool:
        nonlocal seen
        if supervisor.is_free():
            return True
        # Alone: the supervisor has still to notice. Not even shared: it has noticed, and is stopping the server.
        others = not users.is_free_of_all() and users.is_free()
        seen = seen + 1 if others else 0
        return seen == _LOOKS_TO_BE_SURE  # one look may have met the look of another that is leaving, too

    wait_until(is_settled, supervision.STOP_TIMEOUT_S)
