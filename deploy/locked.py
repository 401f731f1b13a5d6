"""The part of requirements.lock that an image needs: ``python deploy/locked.py . celery > image.lock``.

Each argument is ``.`` (the dependencies of the project), an extra of it, or a package. The lock holds all that a
developer needs, with hashes, and says of each package what asks for it. What is not in the lock is refused, since it
would be installed without hashes.
"""

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==")
_VIA = re.compile(r"^ +# +(?:via +)?([A-Za-z0-9._-]+)(?: .*)?$")


def entries(lock: str) -> dict[str, str]:
    """The lock by package, each with its hashes and what asks for it."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in lock.splitlines():
        pin = _PIN.match(line)
        if pin is not None:
            name = normal(pin[1])
        if name:
            found.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def normal(name: str) -> str:
    """A package's name in its one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(dependencies: Sequence[str], extras: Mapping[str, Sequence[str]], asked: Sequence[str]) -> set[str]:
    """The names of the packages that the arguments ask for."""
    lists = {".": dependencies, **extras}
    requirements = [item for one in asked for item in lists.get(one, [one])]
    return {normal(re.split(r"[^A-Za-z0-9._-]", item, maxsplit=1)[0]) for item in requirements}


def closure(lock: Mapping[str, str], roots: set[str]) -> list[str]:
    """The names of what the roots need in the lock, themselves included. Raises ValueError for what is not."""
    missing = sorted(roots - lock.keys())
    if missing:
        raise ValueError(f"not in requirements.lock: {', '.join(missing)}")
    askers = {
        name: {normal(via[1]) for via in map(_VIA.match, text.splitlines()) if via} for name, text in lock.items()
    }
    kept = set(roots)
    while True:
        more = {name for name, by in askers.items() if by & kept} - kept
        if not more:
            return sorted(kept)
        kept |= more


def main(asked: Sequence[str]) -> str:
    """The part of the lock as text."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lock = entries((ROOT / "requirements.lock").read_text("utf-8"))
    names = closure(lock, wanted(project["dependencies"], project["optional-dependencies"], asked))
    return "\n".join(lock[name] for name in names) + "\n"


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
