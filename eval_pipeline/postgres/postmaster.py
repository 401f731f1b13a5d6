"""The server process: started as a child that dies with us, waited for, stopped."""

import signal
import subprocess
import time
from pathlib import Path

from eval_pipeline.postgres.cluster import child_environment
from eval_pipeline.postgres.locks import POLL_S
from eval_pipeline.postgres.os_process import death_with_parent
from eval_pipeline.postgres.os_user import OsUser
from eval_pipeline.postgres.supervision import PORT, socket_url
from eval_pipeline.postgres.url import reachable

_SETTINGS = {
    "listen_addresses": "",  # the socket only
    "port": PORT,
    "unix_socket_permissions": "0700",
    "max_connections": 200,
    "shared_buffers": "32MB",
    "wal_level": "minimal",  # nobody replicates it; bulk loads into new tables skip the log
    "max_wal_senders": 0,
    "max_wal_size": "256MB",
    "max_logical_replication_workers": 0,
    "max_parallel_workers_per_gather": 0,  # small tables; and containers have little shared memory
    "io_method": "sync",  # no I/O workers to start
    "huge_pages": "off",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_error_statement": "panic",  # statements carry the books and other people's data: never into the log
    "log_parameter_max_length_on_error": 0,
}


def start(bin_folder: Path, data: Path, sockets: Path, user: OsUser, log: int) -> "subprocess.Popen[bytes]":
    """Starts the server with its messages going to the file descriptor `log`; it is not ready yet."""
    settings = {**_SETTINGS, "unix_socket_directories": f'"{sockets}"'}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return subprocess.Popen(  # noqa: S603
        [bin_folder / "postgres", "-D", data, *options],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/",
        env=child_environment(), **user.as_arguments(),
        preexec_fn=death_with_parent(signal.SIGINT),  # noqa: PLW1509 -- the supervisor has no threads yet
    )  # fmt: skip


def wait_ready(server: "subprocess.Popen[bytes]", data: Path, sockets: Path, timeout_s: float) -> bool:
    """Waits until the server takes connections; False when it ended or the time is over."""
    deadline = time.monotonic() + timeout_s
    while server.poll() is None and time.monotonic() < deadline:
        if _says_ready(data) and reachable(socket_url(sockets)) is None:
            return True
        time.sleep(POLL_S)
    return False


def _says_ready(data: Path) -> bool:
    """Whether its pid file says so; asking by connections alone would fill its log with refusals."""
    try:
        return "\nready" in (data / "postmaster.pid").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return False


def stop(server: "subprocess.Popen[bytes]", timeout_s: float) -> None:
    """Stops the server: fast, then at once, then by force."""
    for step in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if server.poll() is not None:
            return
        server.send_signal(step)
        try:
            server.wait(timeout_s / 3)
        except subprocess.TimeoutExpired:
            continue
