"""What every folder of tests may use: a real Postgres (`postgres_server`, `database_url`, `reachable_home`) and a
results database (`results`)."""

import signal

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

# A shell that puts a job in the background makes it ignore SIGINT, and so would every command that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
