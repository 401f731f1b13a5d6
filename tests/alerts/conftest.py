"""What the tests of alerts share: an empty outbox, a receiver, and an instance of Dagster of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance

from eval_pipeline.results import Database
from tests.alerts.receiver import Receiver, receiving


@pytest.fixture
def box(results: Database) -> Database:
    """The results database with nothing to tell and no night looked at."""
    with results.transaction() as db:
        db.execute("delete from results.alerts")
        db.execute("delete from results.alerted_nights")
    return results


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[DagsterInstance]:
    with DagsterInstance.local_temp(str(tmp_path)) as found:
        yield found
