"""Homes for servers, and commands that use them."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline.postgres import embedded
from tests.postgres.commands import Commands
from tests.postgres_fixture import reachable_folder


@pytest.fixture(scope="session")
def made_data() -> Iterator[Path]:
    """A data folder made by a server that was stopped."""
    with reachable_folder() as home:
        with embedded(home) as server:
            data = server.data
        yield data


@pytest.fixture
def home(reachable_home: Path, made_data: Path) -> Path:
    """A home whose database is made: the tests that are not about making it save that time."""
    subprocess.run(["cp", "-a", made_data, reachable_home / "postgres"], check=True)
    return reachable_home


@pytest.fixture
def commands(home: Path) -> Iterator[Commands]:
    """Commands on a home whose database is made."""
    commands = Commands(home)
    yield commands
    commands.close()


@pytest.fixture
def first_commands(reachable_home: Path) -> Iterator[Commands]:
    """Commands on a home that has no database yet."""
    commands = Commands(reachable_home)
    yield commands
    commands.close()


@pytest.fixture
def elsewhere() -> Iterator[list[Path]]:
    """Folders outside of the homes, put in by the test, removed after it."""
    folders: list[Path] = []
    yield folders
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
