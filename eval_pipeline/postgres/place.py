"""Where a home's server keeps its data and its socket.

In the home, unless the server's user cannot reach it (a home below /root) or its file system cannot keep a folder
private. No permission of a folder that we did not make is ever changed: the data goes elsewhere instead, and
`postgres.json` in the home says where.
"""

import hashlib
import itertools
import os
import re
import shutil
import stat
import sys
import tempfile
from pathlib import Path

from eval_pipeline.postgres.errors import PostgresUnavailable
from eval_pipeline.postgres.os_user import OsUser
from eval_pipeline.postgres.record import Record
from eval_pipeline.postgres.supervision import PORT

ELSEWHERE = Path("/var/lib/eval-pipeline")
SHORT = Path("/tmp")  # noqa: S108 -- sticky, and what we make in it is private and checked
_NOTE = "home"
_SAFE = re.compile(r"[A-Za-z0-9/._-]+")  # anything else needs quoting in some reader of the URL; a comma splits hosts


def digest_of(path: Path) -> str:
    """A short name for a path."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def known_data(home: Path, record: Record | None) -> Path | None:
    """Returns the data folder that this home already has, or None. A copied home does not share its original's.

    Data elsewhere follow a home that was moved, and come back to one that was removed and made again.
    """
    if record is not None and (record.data / "PG_VERSION").exists():
        is_ours = record.home == home or (record.data != record.home / "postgres" and not record.home.exists())
        if is_ours:
            return record.data
    own = home / "postgres"
    if (own / "PG_VERSION").exists():
        return own.resolve()
    for note in elsewhere().glob(f"{digest_of(home)}*/{_NOTE}"):
        data = note.with_name("postgres")
        if note.read_bytes() == os.fsencode(home) and (data / "PG_VERSION").exists():
            return data
    return None


def claim(data: Path, home: Path) -> None:
    """Notes beside data elsewhere which home they belong to."""
    if data.is_relative_to(elsewhere()):
        data.with_name(_NOTE).write_bytes(os.fsencode(home))


def new_data(home: Path, user: OsUser) -> Path:
    """Returns the path of a data folder to be made, the first at which the user can own a private folder.

    Raises PostgresUnavailable when there is none.
    """
    reason = _why_not(home, user)
    if reason is None:
        return home / "postgres"
    names = (f"{digest_of(home)}{suffix}" for suffix in itertools.chain([""], (f"-{n}" for n in itertools.count(2))))
    # One that is there belongs to a home that was here before and was moved.
    parent = next(folder for name in names if not ((folder := elsewhere() / name) / "postgres").exists())
    try:
        _make_reachable(parent)
        second_reason = _why_not(parent, user)
    except OSError as error:
        second_reason = str(error.strerror)
    if second_reason is None:
        return parent / "postgres"
    raise PostgresUnavailable(
        f"no folder for the data of Postgres: {home} ({reason}), {parent} ({second_reason}): choose another home, "
        "or set EVAL_DATABASE_URL and EVAL_LEDGER_URL"
    )


def _why_not(parent: Path, user: OsUser) -> str | None:
    """Returns why the user cannot have a private folder there, found by making one; None when it can."""
    try:
        folder = make_building_folder(parent / "postgres", user)
    except OSError as error:
        return str(error.strerror)
    usable = is_private(folder, user.uid) and user.may("w", folder) and user.may("x", folder)
    shutil.rmtree(folder)
    return None if usable else f"out of reach for the user {user.uid} that runs the server"


def elsewhere() -> Path:
    """Where things go that cannot be in the home or in the wheel."""
    if os.geteuid() == 0:
        return ELSEWHERE
    above = os.environ.get("XDG_DATA_HOME") or os.environ.get("HOME", tempfile.gettempdir()) + "/.local/share"
    return Path(above) / "eval-pipeline"


def make_building_folder(target: Path, user: OsUser) -> Path:
    """Makes an empty private folder of the user's beside the target, to be renamed to it when it is whole.

    Its name is new: a program that a killed supervisor left behind may still write into the last one, which is
    removed here, as far as that can be done.
    """
    for old in target.parent.glob(f"{target.name}.building.*"):
        shutil.rmtree(old, ignore_errors=True)
    building = Path(tempfile.mkdtemp(prefix=f"{target.name}.building.", dir=target.parent))
    user.own(building)
    return building


def _make_reachable(folder: Path) -> None:
    """Makes a folder of our own, whatever the umask: others may pass, not look."""
    for path in (folder.parent, folder):
        if not path.exists():
            path.mkdir(parents=True)
            path.chmod(0o711)


def is_private(folder: Path, uid: int) -> bool:
    """Whether it is a real folder (no link) that the user owns and nobody else may enter."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid and not found.st_mode & 0o077


def socket_path_limit() -> int:
    """The longest socket path in bytes (sun_path of sockaddr_un, without its final zero)."""
    return 107 if sys.platform == "linux" else 103


def socket_folder(data: Path, user: OsUser, recorded: Path | None) -> Path:
    """Returns a private folder for the socket: the data folder, or a short one when that path is too long or odd.

    The short one has a name that others can guess; whatever is there and is not ours is left alone, and a name
    that nobody can guess is taken instead.
    """
    if _suits(data):
        return data
    short = SHORT / f"eval-pg-{digest_of(data)}"
    for folder in filter(None, (recorded, short)):
        if folder == data:
            continue
        try:
            folder.mkdir(mode=0o700)
            user.own(folder)
        except FileExistsError:
            pass  # perhaps ours, left by a kill: looked at next
        except OSError as error:
            raise _no_socket_folder(folder, error) from error
        if _suits(folder) and is_private(folder, user.uid):
            return folder
    try:
        guessless = Path(tempfile.mkdtemp(prefix="eval-pg-", dir=SHORT))
    except OSError as error:
        raise _no_socket_folder(SHORT, error) from error
    user.own(guessless)
    return guessless


def _suits(folder: Path) -> bool:
    path = os.fspath(folder / f".s.PGSQL.{PORT}")
    return len(os.fsencode(path)) <= socket_path_limit() and _SAFE.fullmatch(path) is not None


def _no_socket_folder(folder: Path, error: OSError) -> PostgresUnavailable:
    return PostgresUnavailable(
        f"no folder for the socket of Postgres, tried {folder} ({error.strerror}): choose a home with a shorter path"
    )
