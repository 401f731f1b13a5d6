"""Which commit of the repository a folder is at."""

import subprocess
from pathlib import Path

LONGEST_S = 10


def commit_of(folder: Path, told: str | None = None) -> str | None:
    """The commit that holds the folder as it is, in full; ``told`` (EVAL_COMMIT) where there is no repository to ask.

    None when nobody knows: no repository and nothing told, or something in the folder is not committed.
    """
    changed = _git(folder, "status", "--porcelain", "--", ".")
    if changed is None:
        return told
    return None if changed else _git(folder, "rev-parse", "HEAD")


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints; None when it is not installed, or the folder is in no repository."""
    try:
        done = subprocess.run(  # noqa: S603
            ("git", "-C", str(folder), *arguments),  # noqa: S607
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
