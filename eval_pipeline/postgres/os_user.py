"""Who the server runs as: Postgres refuses to be root, so root starts it as somebody without rights."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from eval_pipeline.postgres.errors import PostgresUnavailable

OS_USER_VARIABLE = "EVAL_POSTGRES_OS_USER"
_USERS = ("postgres", "nobody")


class RunAs(TypedDict, total=False):
    """The arguments of `subprocess` that say who the child is."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class OsUser:
    """The user of the server's processes and files; `switch` when we are root and have to become it."""

    uid: int
    gid: int
    switch: bool

    def may(self, permission: str, path: Path) -> bool:
        """Whether this user has the permission (r, w or x, as `test` knows them) on a path, asked as this user."""
        if not self.switch:
            return os.access(path, {"r": os.R_OK, "w": os.W_OK, "x": os.X_OK}[permission])
        command = ["test", f"-{permission}", os.fspath(path)]
        return subprocess.run(command, check=False, cwd="/", **self.as_arguments()).returncode == 0  # noqa: S603

    def as_arguments(self) -> RunAs:
        """The arguments of `subprocess` that make a child this user, and nothing else: no group of root's stays."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}

    def own(self, path: Path) -> None:
        """Gives a file of ours to this user."""
        if self.switch:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def server_user(home: Path, data: Path | None) -> OsUser:
    """Returns who the server of this home runs as.

    We ourselves, unless we are root: then EVAL_POSTGRES_OS_USER, else the owner of the data or of the home,
    else `postgres`, else `nobody`. Raises PostgresUnavailable when none of them exists.
    """
    if os.geteuid() != 0:
        return OsUser(os.geteuid(), os.getegid(), switch=False)
    chosen = os.environ.get(OS_USER_VARIABLE)
    if chosen:
        user = _named(chosen)
        if user is None or user.uid == 0:
            raise PostgresUnavailable(
                f"{OS_USER_VARIABLE}={chosen} is not an unprivileged user of this machine: name one that is"
            )
        return user
    if data is not None and (owner := data.stat()).st_uid != 0:
        return OsUser(owner.st_uid, owner.st_gid, switch=True)
    # A mounted home may belong to a number that has no name here, with which initdb could not work.
    if (owner := home.stat()).st_uid != 0 and has_name(owner.st_uid):
        return OsUser(owner.st_uid, owner.st_gid, switch=True)
    user = next(filter(None, map(_named, _USERS)), None)
    if user is None:
        raise PostgresUnavailable(
            f"Postgres does not run as root and there is no user {' or '.join(_USERS)}: "
            f"name an unprivileged user in {OS_USER_VARIABLE}"
        )
    return user


def has_name(uid: int) -> bool:
    """Whether the user database of this machine knows the number."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _named(name: str) -> OsUser | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return OsUser(entry.pw_uid, entry.pw_gid, switch=True)
