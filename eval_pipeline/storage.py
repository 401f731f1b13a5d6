"""Where the databases are: the addresses of the environment, each falling back alone to the embedded server.

``storage()`` gives both, ready: the results migrated; the embedded ledger migrated and marked as the harness's own. A
ledger of the environment is never touched here: it may be somebody's books, so a prerequisite looks at it first.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from eval_pipeline.errors import ConfigError
from eval_pipeline.postgres import Server, dagster_url, embedded, ensure_database, is_same_database, normalise_url
from eval_pipeline.results.database import Database
from eval_pipeline.settings import Settings, settings

DATABASE = "eval_pipeline"
LEDGER = "ledger"


@dataclass(frozen=True, slots=True)
class Storage:
    """The addresses in use. ``server`` is the embedded server, None when the environment names both databases."""

    database_url: str
    ledger_url: str
    server: Server | None


@contextmanager
def storage(chosen: Settings) -> Iterator[Storage]:
    """Both databases for as long as the context lasts; the environment of child processes names them too.

    Raises ResultsUnavailable when the results database does not answer, PostgresUnavailable when no server can be
    started, ConfigError when both addresses name one database.
    """
    given_results = chosen.database_url.get_secret_value() if chosen.database_url else None
    given_ledger = chosen.ledger_url.get_secret_value() if chosen.ledger_url else None
    if given_results and given_ledger and is_same_database(given_results, given_ledger):
        raise ConfigError("EVAL_DATABASE_URL and EVAL_LEDGER_URL name the same database: the ledger needs its own")
    with ExitStack() as stack:
        server = None if given_results and given_ledger else stack.enter_context(embedded(chosen.home))
        results_url = given_results or ensure_database(_url(server), DATABASE)
        ledger_url = given_ledger or ensure_database(_url(server), LEDGER)
        with Database(results_url) as database:
            database.migrate()
        if given_ledger is None:
            prepare_ledger(ledger_url)
        stack.enter_context(_exported(results_url, ledger_url))
        yield Storage(normalise_url(results_url), normalise_url(ledger_url), server)


def _url(server: Server | None) -> str:
    if server is None:
        raise ConfigError("no embedded server was started")
    return server.url


def prepare_ledger(url: str) -> None:
    """Migrates a ledger database and marks it as the harness's own. Raises LedgerError when it holds live books."""
    from bookkeeping.ledger import Ledger

    with Ledger.connect(url, pool_size=1) as ledger:
        ledger.migrate()
        if not ledger.has_marker():
            ledger.set_marker()


@contextmanager
def _exported(results_url: str, ledger_url: str) -> Iterator[None]:
    """Names the databases in the environment, where Dagster's configuration and child processes read them."""
    names = {
        "EVAL_DATABASE_URL": dagster_url(results_url),
        "EVAL_LEDGER_URL": normalise_url(ledger_url),
        "EVAL_STEP_LOGS": str(settings().home / "steps"),
    }
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    settings.cache_clear()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        settings.cache_clear()
