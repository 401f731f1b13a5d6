"""Digests of code: which code made an outcome, and which code graded it."""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from eval_pipeline.errors import ConfigError
from eval_pipeline.values import digest

IGNORED = ("__pycache__",)


@cache
def package_files(name: str) -> tuple[Path, ...]:
    """All files of a module or package, sorted; compiled files left out. Raises ConfigError when it is not there."""
    spec = find_spec(name)
    if spec is None:
        raise ConfigError(f"{name} cannot be found")
    if spec.submodule_search_locations is None:
        return (Path(spec.origin or ""),)
    roots = [Path(location) for location in spec.submodule_search_locations]
    files = (file for root in roots for file in sorted(root.rglob("*")) if file.is_file())
    return tuple(file for file in files if not set(IGNORED) & set(file.parts))


def code_digest(names: Iterable[str]) -> str:
    """SHA-256 over the bytes of all files of these modules and packages, by import path and file name."""
    content = {}
    for name in sorted(set(names)):
        for file in package_files(name):
            content[f"{name}:{'/'.join(file.parts[-3:])}"] = hashlib.sha256(file.read_bytes()).hexdigest()
    return digest(content)


GRADING = ("eval_pipeline.evaluator", "eval_pipeline.judge", "eval_pipeline.verdict", "eval_pipeline.values")
"""The modules beside an agent's evaluators that decide what a score and a verdict is."""
