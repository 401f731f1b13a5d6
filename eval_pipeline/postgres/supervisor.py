"""The server's parent: `python -m eval_pipeline.postgres.supervisor HOME`, one process a home.

It starts the server, says on its standard output what came of it (one line of JSON), and waits: until nobody holds
the home's users lock any more, or the server dies, or it is told to stop. Then it stops the server and ends. When
it is killed instead, the kernel asks the server to stop. It holds the supervisor lock for as long as it lives.
"""

import errno
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from eval_pipeline.postgres import binaries, cluster, place, postmaster, record, supervision
from eval_pipeline.postgres.errors import PostgresUnavailable
from eval_pipeline.postgres.locks import LockFile, wait_until
from eval_pipeline.postgres.os_user import OsUser, server_user
from eval_pipeline.postgres.record import Record
from eval_pipeline.postgres.server_log import ServerLog

_FASTER_S = 0.02  # a command that looks whether the lock is free has it for a moment


def serve(home: Path, users: LockFile) -> None:
    """Starts the server of this home, reports, and stays until it is not needed; the caller has the supervisor lock.

    Ends with the users lock held alone if nobody used the server any more: new users wait until all is stopped.
    """
    events: queue.SimpleQueue[str] = queue.SimpleQueue()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, lambda *_: events.put("told to stop"))
    user, bin_folder, here = _prepare(home)
    log = ServerLog(home / supervision.LOG)
    record.write(here)
    server = postmaster.start(bin_folder, here.data, here.sockets, user, log.writer)
    log.start()
    try:
        if not postmaster.wait_ready(server, here.data, here.sockets, supervision.START_TIMEOUT_S):
            postmaster.stop(server, supervision.STOP_TIMEOUT_S)
            raise PostgresUnavailable(_why_not(here, log))
        record.write(replace(here, ready=True))
        _report(supervision.READY)
        _watch(server, users, events)
    finally:
        _close(server, here)


def _prepare(home: Path) -> tuple[OsUser, Path, Record]:
    """Decides who runs the server and where, and brings the data into a state in which it can start."""
    before = record.read(home)
    data = place.known_data(home, before)
    user = server_user(home, data)
    bin_folder = binaries.programs(user)
    if data is None:
        data = place.new_data(home, user)
        cluster.initialise(data, bin_folder, user)
    place.claim(data, home)
    cluster.check_version(data, bin_folder)
    if not place.is_private(data, user.uid):
        raise PostgresUnavailable(
            f"{data} must belong to user {user.uid} alone: chown -R {user.uid} and chmod 700 it, or move it away"
        )
    sockets = place.socket_folder(data, user, before.sockets if before else None)
    cluster.clear_leftovers(data, sockets)
    return user, bin_folder, Record(home=home, data=data, sockets=sockets, supervisor=os.getpid())


def _watch(server: "subprocess.Popen[bytes]", users: LockFile, events: "queue.SimpleQueue[str]") -> None:
    """Returns when the server is not needed any more, or died."""

    def until_unused() -> None:
        users.wait_exclusive()
        events.put("nobody uses it")

    def until_dead() -> None:
        server.wait()
        events.put("it died")

    for watcher in (until_unused, until_dead):
        threading.Thread(target=watcher, daemon=True).start()
    why = events.get()
    os.write(2, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC supervisor of the server: ends, {why}\n".encode())


def _close(server: "subprocess.Popen[bytes]", here: Record) -> None:
    postmaster.stop(server, supervision.STOP_TIMEOUT_S)
    if (here.data / "postmaster.pid").exists():  # it was killed, and what it forked may still be there
        cluster.clear_leftovers(here.data, here.sockets)
    if here.home.exists():  # it may have been removed with all that is in it
        record.retire(here)
    if here.sockets != here.data:
        with suppress(OSError):  # somebody put a file in: it stays
            here.sockets.rmdir()


def _why_not(here: Record, log: ServerLog) -> str:
    free = shutil.disk_usage(here.data).free
    return cluster.explain(f"Postgres did not start (see {log.path})", log.drain(), free, here.data)


def _report(word: str) -> None:
    """Tells the command that started us, once; it may be gone, and then the users lock is free, too."""
    with suppress(OSError):
        os.write(1, json.dumps(word).encode() + b"\n")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.close(nothing)


def main() -> None:
    """Becomes nobody's child, so that no command has to wait for us, and serves."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    home = Path(sys.argv[1])
    try:
        supervisor, users = LockFile(home / supervision.SUPERVISOR_LOCK), LockFile(home / supervision.USERS_LOCK)
        if wait_until(supervisor.try_exclusive, _FASTER_S):
            try:
                serve(home, users)
            finally:
                supervisor.close()  # before the users lock, which goes with us: who gets that one finds this one free
        else:
            _report(supervision.BUSY)
    except PostgresUnavailable as error:
        _report(str(error))
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        advice = f"the disk of {home} is full, make room on it" if is_full else f"see {home / supervision.LOG}"
        _report(f"the Postgres of {home} cannot run: {error}; {advice}")
    except BaseException:
        traceback.print_exc()
    os._exit(0)  # without waiting for threads


if __name__ == "__main__":
    main()
