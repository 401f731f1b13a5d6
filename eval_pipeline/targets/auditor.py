"""The Auditor's target: its compiled graph over a real ledger. Nothing is substituted.

Every attempt has a book of its own. The example names a builder (``datasets/auditor/builders``) that says what is in
the book and what was done to it; the book is written by COPY with the triggers off, as somebody with the rights of the
database's owner could, and dropped afterwards. Anchors are taken before the book is tampered with, as somebody outside
the database would have taken them. Building is set-up: the graph sees the book, the run and the anchors, no more.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from bookkeeping.agents.auditor.outputs import AuditorOutputs
from eval_pipeline.prerequisites import LEDGER
from eval_pipeline.settings import settings
from eval_pipeline.target import Attempt, Outputs, RunContext, RunOne, Target
from eval_pipeline.trace import run_graph

PACKAGE = "auditor_builders"


@dataclass(frozen=True, slots=True)
class TriggersOff:
    """A database user that may switch triggers off: what the books' tampering needs."""

    def missing(self, context: RunContext) -> str | None:
        """The reason why the ledger's user may not; None when it may."""
        import psycopg

        from bookkeeping.ledger.connection import libpq_conninfo

        try:
            with psycopg.connect(libpq_conninfo(context.ledger_url or ""), connect_timeout=3) as connection:
                connection.execute("SET LOCAL session_replication_role = replica")
        except psycopg.errors.InsufficientPrivilege:
            return "the ledger's database user may not set session_replication_role, with which books are tampered with"
        except psycopg.OperationalError:
            return "the ledger cannot be reached"
        return None


TRIGGERS_OFF = TriggersOff()


def load_builders(folder: Path) -> ModuleType:
    """Imports the package of builders in a dataset folder, whatever was imported under its name before."""
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    source = folder / "builders" / "__init__.py"
    spec = spec_from_file_location(PACKAGE, source, submodule_search_locations=[str(source.parent)])
    if spec is None or spec.loader is None:
        raise ImportError(f"{source} cannot be imported")
    module = module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def open_auditor(context: RunContext) -> Iterator[RunOne]:
    """Connects to the ledger, twice: as the owner who builds books, and as the reader who audits them."""
    from psycopg_pool import ConnectionPool

    from bookkeeping.agents.auditor.graph import AuditorContext, build_graph
    from bookkeeping.agents.auditor.reading import Reader
    from bookkeeping.ledger import Ledger
    from bookkeeping.ledger.connection import libpq_conninfo

    builders = load_builders(settings().datasets / "auditor")
    graph = build_graph()
    url = context.ledger_url or ""
    with (
        Ledger.connect(url) as ledger,
        ConnectionPool(libpq_conninfo(url), kwargs={"autocommit": True}, min_size=1, max_size=8, open=True) as owners,
        Reader(url) as reader,
    ):
        ledger.drop_abandoned_books()

        def run_one(inputs: dict[str, Any], attempt: Attempt) -> Outputs:
            with _built(builders, ledger, owners, inputs, attempt.name) as audit, reader.snapshot() as snapshot:
                outputs: Outputs = run_graph(graph, audit, context=AuditorContext(snapshot))
                return outputs

        yield run_one


@contextmanager
def _built(
    builders: ModuleType, ledger: Any, owners: Any, inputs: Mapping[str, Any], chain: str
) -> Iterator[dict[str, Any]]:
    """The book of an example, and the inputs of an audit of it."""
    draft = builders.draft(inputs)
    book = ledger.create_book(builders.book_spec(draft, chain))
    try:
        with owners.connection() as connection:
            anchors = builders.write_book(connection, book, draft, inputs)
        yield {"chain": chain, "run": inputs["run"], "anchors": anchors}
    finally:
        ledger.drop_book(book)


TARGET = Target(
    agent="auditor",
    outputs=AuditorOutputs,
    open=open_auditor,
    requires=lambda _: (LEDGER, TRIGGERS_OFF),
    timeout_s=120.0,
)
