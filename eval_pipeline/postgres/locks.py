"""Files that are locked with flock: the kernel drops such a lock when its holder ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from eval_pipeline.postgres.errors import PostgresUnavailable

POLL_S = 0.005


class LockFile:
    """One open handle on a lock file; closing it lets go. A child made by fork alone shares the handle."""

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._fd = os.open(path, flags, 0o644)
            give_to_owner_of_folder(self._fd, path)
        except OSError as error:
            raise PostgresUnavailable(
                f"cannot open {path} ({error.strerror}): make {path.parent} writable, or choose another home"
            ) from error

    def try_shared(self) -> bool:
        """Takes the lock as one of many; False when somebody has it alone."""
        return self._try(fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        """Takes the lock alone; False when anybody else has it."""
        return self._try(fcntl.LOCK_EX)

    def wait_exclusive(self) -> None:
        """Blocks until nobody else has it."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def is_free(self) -> bool:
        """Whether nobody has it alone, now. Does not keep it."""
        return self._look(fcntl.LOCK_SH)

    def is_free_of_all(self) -> bool:
        """Whether nobody has it at all, now. Does not keep it."""
        return self._look(fcntl.LOCK_EX)

    def close(self) -> None:
        """Lets go."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _look(self, kind: int) -> bool:
        free = self._try(kind)
        if free:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        return free

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise PostgresUnavailable(
                f"cannot lock {self.path} ({error.strerror}): choose a home on a local disk"
            ) from error
        return True

    def __enter__(self) -> "LockFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def give_to_owner_of_folder(fd: int, path: Path) -> None:
    """Gives root's new file to the owner of its folder, who comes back one day without being root."""
    if os.geteuid() == 0:
        owner = path.parent.stat()
        os.fchown(fd, owner.st_uid, owner.st_gid)


def wait_until(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Looks again every few milliseconds; False when the time is over first."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True
