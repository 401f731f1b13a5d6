"""What every folder of tests may use: a real Postgres (`postgres_server`, `database_url`, `reachable_home`)."""

from tests.postgres_fixture import (
    database_url,
    postgres_server,
    pytest_configure,
    pytest_unconfigure,
    reachable_home,
)

__all__ = ["database_url", "postgres_server", "pytest_configure", "pytest_unconfigure", "reachable_home"]
