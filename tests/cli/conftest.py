"""Databases that are ready at once (copies of a template), and a copy of the project over them."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from eval_pipeline.postgres import Server
from tests.cli.agents import ADDER, ADDER_EXAMPLES, write_adder
from tests.cli.project import Project


def _execute(server: Server, statement: str, *names: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@contextmanager
def _copy(server: Server, template: str) -> Iterator[str]:
    name = f"cli_{uuid.uuid4().hex}"
    _execute(server, "create database {} template {}", name, template)
    try:
        yield server.database_url(name)
    finally:
        _execute(server, "drop database if exists {} with (force)", name)


@pytest.fixture(scope="session")
def templates(postgres_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Names of two template databases: one with Dagster's tables and the results, one marked ledger."""
    results, ledger = f"template_results_{uuid.uuid4().hex}", f"template_ledger_{uuid.uuid4().hex}"
    for name in (results, ledger):
        _execute(postgres_server, "create database {}", name)
    urls = {
        "EVAL_DATABASE_URL": postgres_server.database_url(results),
        "EVAL_LEDGER_URL": postgres_server.database_url(ledger),
    }
    project = Project.copied(tmp_path_factory.mktemp("template") / "project", urls)
    write_adder(project)
    prepared = project.run("init-ledger")
    assert prepared.code == 0, prepared.err
    made = project.run("run")
    assert made.code == 0, made.out + made.err
    with psycopg.connect(urls["EVAL_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("truncate results.runs cascade")
    yield results, ledger
    for name in (results, ledger):
        _execute(postgres_server, "drop database if exists {} with (force)", name)


@pytest.fixture
def bare(postgres_server: Server, templates: tuple[str, str], tmp_path: Path) -> Iterator[Project]:
    """A copy of the project without any dataset, over fresh databases."""
    results, ledger = templates
    with _copy(postgres_server, results) as results_url, _copy(postgres_server, ledger) as ledger_url:
        environment = {
            "EVAL_DATABASE_URL": results_url,
            "EVAL_LEDGER_URL": ledger_url,
            "EVAL_HOME": str(tmp_path / "home"),
        }
        yield Project.copied(tmp_path / "project", environment)


@pytest.fixture
def project(bare: Project) -> Project:
    """A copy of the project with one agent only: the adder, all of whose examples pass."""
    write_adder(bare)
    bare.dataset(ADDER, ADDER_EXAMPLES)
    return bare
