"""What every folder of tests may use: a real Postgres (`postgres_server`, `database_url`, `reachable_home`) and a
results database (`results`)."""

from tests.postgres_fixture import (
    database_url,
    postgres_server,
    pytest_configure,
    pytest_unconfigure,
    reachable_home,
)
from tests.results_fixture import migrated_url, results

__all__ = [
    "database_url",
    "migrated_url",
    "postgres_server",
    "pytest_configure",
    "pytest_unconfigure",
    "reachable_home",
    "results",
]
