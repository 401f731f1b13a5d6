"""`postgres.log`: the server's messages, at most two files of a megabyte."""

import os
import threading
from pathlib import Path

from eval_pipeline.postgres.errors import PostgresUnavailable
from eval_pipeline.postgres.locks import give_to_owner_of_folder

LIMIT_BYTES = 2**20


def open_log(path: Path) -> int:
    """Opens the log for appending; PostgresUnavailable when that cannot be."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        give_to_owner_of_folder(fd, path)
    except OSError as error:
        raise PostgresUnavailable(f"cannot write {path} ({error.strerror}): make it writable or remove it") from error
    return fd


class ServerLog:
    """A pipe for the server to write to, and a thread that brings it to the file. `tail` is what was last said."""

    def __init__(self, path: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self.path = path
        self.tail = b""
        self._limit = limit_bytes
        self._file = open_log(path)
        self._reader, self.writer = os.pipe()
        self._thread = threading.Thread(target=self._pump, daemon=True)

    def start(self) -> None:
        """Begins to write; to be called when the server has its end of the pipe, which is closed here."""
        os.close(self.writer)
        self._thread.start()

    def drain(self, timeout_s: float = 2) -> str:
        """Waits for the last words of a server that ended, and returns them."""
        self._thread.join(timeout_s)
        return self.tail.decode(errors="replace")

    def _pump(self) -> None:
        while chunk := os.read(self._reader, 65536):
            self.tail = (self.tail + chunk)[-8192:]
            try:
                if os.fstat(self._file).st_size + len(chunk) > self._limit:
                    self._rotate()
                os.write(self._file, chunk)
            except (OSError, PostgresUnavailable):
                # A full disk: the server must go on, a blocked pipe would stop it. The tail still has the words.
                continue

    def _rotate(self) -> None:
        self.path.replace(self.path.with_name(self.path.name + ".1"))
        os.close(self._file)
        self._file = open_log(self.path)
