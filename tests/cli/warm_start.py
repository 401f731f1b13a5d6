"""The session's warm process (warm.py), as the tests use it: a command line in, how it ended out."""

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock

PROGRAM = Path(__file__).with_name("warm.py")
START_TIMEOUT_S = 60
_STARTING = Lock()


@cache
def _socket() -> Path:
    """Starts the process; it ends with this one, since it reads the other end of our pipe."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "socket"
    process = subprocess.Popen([sys.executable, str(PROGRAM), str(path)], stdin=subprocess.PIPE, start_new_session=True)
    for _ in range(START_TIMEOUT_S * 20):
        if path.exists():
            return path
        try:
            raise RuntimeError(f"the warm process ended with {process.wait(0.05)}")
        except subprocess.TimeoutExpired:
            continue
    raise TimeoutError(f"the warm process was not ready within {START_TIMEOUT_S} s")


def run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float
) -> tuple[int, str, str]:
    """Runs ``python -m`` with these arguments to its end: exit code, stdout, stderr.

    Raises TimeoutError, after killing it, when it takes longer.
    """
    with _STARTING:
        path = _socket()
    with tempfile.TemporaryDirectory(prefix="warm-") as printed:
        out, err = Path(printed) / "out", Path(printed) / "err"
        request = {
            "arguments": list(arguments),
            "folder": str(folder),
            "environment": dict(environment),
            "out": str(out),
            "err": str(err),
        }
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(path))
            connection.sendall(json.dumps(request).encode() + b"\n")
            answers = connection.makefile("r")
            pid = int(answers.readline())
            try:
                code = int(answers.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise TimeoutError(f"{' '.join(arguments)} took over {timeout_s} s: {err.read_text('utf-8')}") from None
        return code, out.read_text("utf-8"), err.read_text("utf-8")
