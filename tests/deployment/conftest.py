"""Dagster's instance of the deployment over databases of its own."""

from collections.abc import Iterator

import pytest
from dagster import DagsterInstance

from eval_pipeline.deployment import materialize
from eval_pipeline.postgres import Server
from eval_pipeline.settings import settings
from eval_pipeline.storage import prepare_ledger, storage
from tests.postgres_fixture import fresh_database


@pytest.fixture(scope="module")
def dagster(postgres_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterInstance]:
    """The deployment's own instance (dagster_home) over empty databases, with a ledger that is ready."""
    with fresh_database(postgres_server) as results, fresh_database(postgres_server) as ledger:
        prepare_ledger(ledger)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("EVAL_DATABASE_URL", results)
            environment.setenv("EVAL_LEDGER_URL", ledger)
            environment.setenv("EVAL_HOME", str(tmp_path_factory.mktemp("home")))
            environment.delenv("DAGSTER_HOME", raising=False)
            environment.delenv("LANGSMITH_API_KEY", raising=False)
            settings.cache_clear()
            with storage(settings()), materialize.instance() as instance:
                yield instance
            environment.delenv("DAGSTER_HOME", raising=False)
        settings.cache_clear()
