"""The Auditor over books of the examples' builders: a marked ledger for a module of tests, and one audit in a call."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from bookkeeping.ledger import Ledger
from eval_pipeline.postgres import Server
from eval_pipeline.target import Attempt, RunContext
from eval_pipeline.targets.auditor import open_auditor

ROOT = Path(__file__).resolve().parents[2]
Audit = Callable[..., Mapping[str, Any]]


@pytest.fixture(scope="module")
def auditor_url(postgres_server: Server) -> Iterator[str]:
    """A marked ledger's database."""
    name = f"auditor_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    url = postgres_server.database_url(name)
    with Ledger.connect(url) as ledger:
        ledger.migrate()
        ledger.set_marker()
    yield url
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def audit_inputs(auditor_url: str) -> Iterator[Audit]:
    """Builds the book of an example's inputs, audits it through the real graph, and drops it."""
    with open_auditor(RunContext("tests", auditor_url, None)) as run_one:

        def audit(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
            return run_one(dict(inputs), Attempt("tests", "auditor", "book", 0, uuid.uuid4().hex))  # type: ignore[return-value]

        yield audit


@pytest.fixture
def audit(audit_inputs: Audit) -> Audit:
    """Audits a company's book (see datasets/auditor/builders/company.py) to which ``parameters`` add something."""

    def run(run: Mapping[str, Any] | None = None, **parameters: Any) -> Mapping[str, Any]:
        given = {"audit_date": "2025-12-31", **(run or {})}
        return audit_inputs({"builder": "company", "parameters": parameters, "run": given})

    return run


@pytest.fixture
def audit_chain(audit_inputs: Audit) -> Audit:
    """Audits a book of ten sales after ``tamper``, with anchors of some positions taken before."""

    def run(*tamper: Mapping[str, Any], anchors: tuple[int, ...] = (), n: int = 10, **more: Any) -> Mapping[str, Any]:
        inputs = {"builder": "simple", "parameters": {"n": n, **more}, "anchors": list(anchors), "tamper": list(tamper)}
        return audit_inputs({**inputs, "run": {"audit_date": "2025-12-31"}})

    return run
