"""A copy of the project in which a test plants a fault, driven through the command line as a user drives it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli import warm_start

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("bookkeeping", "eval_pipeline", "dagster_home", "workspace.yaml")
TIMEOUT_S = 100


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)

    def verdict(self, example: str) -> Mapping[str, Any]:
        """The line of an example on the board that was printed with ``--json``."""
        return next(row for row in self.json["examples"] if row["id"] == example)


@dataclass
class Project:
    """The copy. ``edit`` fails when the text to be replaced is not there exactly once: no fault is planted by luck."""

    folder: Path
    environment: dict[str, str]
    _agents: dict[str, Path] = field(default_factory=dict)

    @classmethod
    def copied(cls, folder: Path, environment: Mapping[str, str]) -> "Project":
        """Copies the code; the datasets folder stays empty."""
        folder.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                # Compiled files come along: they are valid for a copy that keeps the times of its sources.
                ignored = shutil.ignore_patterns("logs", "storage", "history")
                shutil.copytree(source, folder / part, ignore=ignored)
            else:
                shutil.copy(source, folder / part)
        (folder / "datasets").mkdir()
        return cls(folder, dict(environment))

    def write(self, path: str, text: str) -> Path:
        """Writes a file of the copy."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def edit(self, path: str, old: str, new: str) -> None:
        """Replaces ``old``, which must be there exactly once."""
        text = (self.folder / path).read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {path}"
        self.write(path, text.replace(old, new))

    def dataset(self, agent: str, examples: Sequence[Mapping[str, Any]]) -> Path:
        """Writes an agent's dataset of one file."""
        value = {"agent": agent, "examples": list(examples)}
        return self.write(f"datasets/{agent}/examples.json", json.dumps(value))

    def command(self, *arguments: str) -> list[str]:
        """The command line of a command."""
        return [sys.executable, "-m", "eval_pipeline", *arguments]

    def env(self, **changes: str | None) -> dict[str, str]:
        """The environment of a command: only what is needed, the project's own, and the changes."""
        keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        wanted = {**keep, **self.environment, **changes}
        return {name: value for name, value in wanted.items() if value is not None}

    def run(self, *arguments: str, **environment: str | None) -> Ended:
        """Runs a command to its end, in a process that has the libraries imported already (warm.py)."""
        return Ended(*warm_start.run(("eval_pipeline", *arguments), self.folder, self.env(**environment), TIMEOUT_S))

    def start(self, *arguments: str, **environment: str | None) -> "subprocess.Popen[str]":
        """Starts a command in a process group of its own."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.env(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
