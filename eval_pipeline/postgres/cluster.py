"""The data folder: made whole or not at all, of the right version, and free of what a killed server left."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from eval_pipeline.postgres import binaries, place
from eval_pipeline.postgres.errors import PostgresUnavailable
from eval_pipeline.postgres.os_process import death_with_parent, end, running_in
from eval_pipeline.postgres.os_user import OsUser, has_name
from eval_pipeline.postgres.supervision import PORT

_INITDB = (
    "--username=postgres",
    "--auth=trust",  # whoever can enter the private folder of the socket is the server's user or root
    "--encoding=UTF8",
    # The same order and case rules on every machine, whatever locales it has (Postgres manual, "Locale Providers").
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--no-instructions",
)

_LOG_PREFIX = re.compile(r"^\S+ \S+ UTC \[\d+\] ")
_TELLING = re.compile(r"\b(FATAL|PANIC|ERROR|error|HINT|DETAIL): |\binvalid\b")


def child_environment() -> dict[str, str]:
    """What Postgres sees of our environment: no PG* variable that changes it, no locale, and none of our secrets."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}
    return {"LC_ALL": "C", "TZ": "UTC", **kept}


def initialise(data: Path, bin_folder: Path, user: OsUser) -> None:
    """Makes the data folder, aside, and renames it when it is whole; PostgresUnavailable with initdb's reason."""
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise PostgresUnavailable(
            f"{data} is in the way and no database of Postgres (no PG_VERSION in it): move it away"
        )
    if not has_name(user.uid):
        raise PostgresUnavailable(
            f"making a database in {data} failed: initdb needs the user {user.uid} to have a name, so add it to "
            "/etc/passwd, run as another user, or set EVAL_DATABASE_URL and EVAL_LEDGER_URL"
        )
    # initdb writes PG_VERSION early, so an interrupted one looks finished to whoever finds it.
    building = place.make_building_folder(data, user)
    finished = subprocess.run(  # noqa: S603
        [bin_folder / "initdb", "-D", building, *_INITDB],
        check=False, capture_output=True, text=True, errors="replace", cwd="/", env=child_environment(),
        **user.as_arguments(),
        preexec_fn=death_with_parent(signal.SIGKILL),
    )  # fmt: skip
    if finished.returncode != 0:
        free = shutil.disk_usage(building.parent).free
        shutil.rmtree(building, ignore_errors=True)
        raise PostgresUnavailable(explain(f"making a database in {data} failed", finished.stderr, free, data))
    building.rename(data)


def check_version(data: Path, bin_folder: Path) -> None:
    """Raises PostgresUnavailable when the data were written by another major version, which Postgres cannot read."""
    try:
        found = (data / "PG_VERSION").read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise PostgresUnavailable(f"cannot read {data / 'PG_VERSION'}: move {data} away, a new one is made") from error
    wanted = binaries.major_version(bin_folder)
    if found != wanted:
        raise PostgresUnavailable(
            f"{data} was written by Postgres {found} and the embedded one is {wanted}: move the folder away (a new, "
            f"empty one is made), or start a Postgres {found} on it and set EVAL_DATABASE_URL"
        )


def explain(what: str, output: str, free_bytes: int, data: Path) -> str:
    """Words an error of a Postgres program: its own reason, and the disk when that is full."""
    lines = [_LOG_PREFIX.sub("", line.strip()) for line in output.splitlines()]
    telling = [line for line in lines if _TELLING.search(line)]
    reason = " / ".join((telling or [line for line in lines if line])[-3:]) or "it said nothing"
    if "No space left on device" in output or free_bytes < 16 * 2**20:
        return f"{what}: the disk of {data} is full ({free_bytes // 2**20} MiB free), make room on it ({reason})"
    return f"{what}: {reason}"


def clear_leftovers(data: Path, sockets: Path, timeout_s: float = 30) -> None:
    """Ends what still runs on the data and removes the lock files of servers that are gone.

    Only for the holder of the home's supervisor lock: it knows that nobody else owns the server. Postgres itself
    takes any live process with the old number for the old server, so each is looked at.
    """
    pid_file = data / "postmaster.pid"
    if pid_file.exists():
        named = pid_file.read_text(encoding="ascii", errors="replace").partition("\n")[0]
        running = running_in(data)
        postmasters = [process for process in running if str(process.pid) == named]
        end(postmasters, (signal.SIGINT, signal.SIGQUIT), timeout_s)
        end(running, (signal.SIGQUIT, signal.SIGKILL), timeout_s)
        pid_file.unlink(missing_ok=True)
    for folder in {data, sockets}:
        for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
            (folder / name).unlink(missing_ok=True)
