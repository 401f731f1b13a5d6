"""A served deployment through a night in which daemon, webserver, worker and Postgres are killed in turn."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.nights import VICTIMS, survive
from tests.postgres_fixture import reachable_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the unprivileged user of the embedded server can enter."""
    with reachable_folder() as made:
        inner = made / "night"
        inner.mkdir()
        yield inner
        shutil.rmtree(inner)


@pytest.mark.timeout(900)
def test_a_night_with_every_part_killed_loses_nothing_and_tells_a_fixed_defect_once(folder: Path) -> None:
    found = survive(1, folder)
    assert sorted(found.order) == sorted(VICTIMS)
    assert found.problems == ()
