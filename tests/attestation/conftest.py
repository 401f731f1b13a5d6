"""The agent that is attacked, afresh for each test under a name of its own."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attestation.agent import Agent, written


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    """The agent on disk, importable, nothing of it imported yet."""
    with written(tmp_path, f"sorter_{uuid.uuid4().hex[:8]}") as made:
        yield made
