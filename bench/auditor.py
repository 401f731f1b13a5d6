"""Auditing one large book: the chain against its two floors, then everything side by side, and the memory it takes.

The floors are of the same machine and run: reading the columns that are hashed, entries and lines, through a
server-side cursor, and hashing the same texts. ``measure`` prints the table. EVAL_BENCH_ENTRIES is the
size of the book.
"""

import json
import os
import resource
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from hashlib import sha256
from time import perf_counter
from typing import Any

import psycopg
from psycopg import sql

from bench.auditor_book import write_journal, write_records
from bookkeeping.agents.auditor.chain.scan import ENTRIES, PAGE, is_whole, scan
from bookkeeping.agents.auditor.graph import AuditorContext, build_graph
from bookkeeping.agents.auditor.reading import Reader, Session, Snapshot
from bookkeeping.ledger import BookSpec, Ledger
from bookkeeping.ledger.currency import currency_scales
from eval_pipeline.postgres import embedded, ensure_database
from eval_pipeline.settings import settings

N_ENTRIES = int(os.environ.get("EVAL_BENCH_ENTRIES", "1000000"))
CHAIN = "bench"
MIB = 1024 * 1024
_PLAIN = """
    SELECT e.seq, e.version, e.voucher, e.document_type, e.document_number, e.document_date, e.posting_date,
           e.posted_at, e.posted_by, e.text, e.prev_hash, e.hash,
           l.account, l.side, l.amount, l.currency, l.document_amount, l.document_currency, l.text
      FROM ledger.entries e JOIN ledger.lines l USING (book_id, seq)
     WHERE e.book_id = %(book_id)s ORDER BY e.seq, l.line_no
"""


def measure() -> dict[str, Any]:
    """Builds the book in a database of its own, audits it in a process of its own, prints the table; returns it."""
    with _database() as url:
        began = perf_counter()
        with Ledger.connect(url) as ledger, psycopg.connect(url, autocommit=True) as connection:
            ledger.migrate()
            ledger.set_marker()
            spec = BookSpec(CHAIN, "Larch Trading Ltd", "EUR", "Europe/Berlin", date(2025, 1, 1), date(2025, 12, 31),
                            kind="eval")  # fmt: skip
            book = ledger.create_book(spec)
            write_journal(connection, book, N_ENTRIES)
            write_records(connection, book)
            built = perf_counter() - began
            told = subprocess.run(
                [sys.executable, "-m", "bench.auditor", url, str(book.book_id)], capture_output=True, text=True,
                check=True,
            )  # fmt: skip
    measured: dict[str, Any] = {"entries": N_ENTRIES, "built_s": built, **json.loads(told.stdout)}
    _print(measured)
    return measured


def _print(measured: dict[str, Any]) -> None:
    floors = measured["read_floor_s"] + measured["hash_floor_s"]
    rows = (
        ("entries", f"{measured['entries']:,}"),
        ("building the book (not part of the audit)", f"{measured['built_s']:.1f} s"),
        ("floor: reading the rows through a server-side cursor", f"{measured['read_floor_s']:.2f} s"),
        ("floor: hashing the same bytes", f"{measured['hash_floor_s']:.2f} s"),
        ("verifying the chain", f"{measured['chain_s']:.2f} s = {measured['chain_s'] / floors:.2f} x the floors"),
        ("whole audit, all families side by side", f"{measured['audit_s']:.2f} s"),
        ("processors, and load of the machine before and after", f"{os.cpu_count()}; {measured['load']}"),
        ("findings", str(measured["findings"])),
        ("peak memory of the auditing process", f"{measured['peak_mib']:.0f} MiB"),
    )
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")


@contextmanager
def _database() -> Iterator[str]:
    name = f"bench_{uuid.uuid4().hex}"
    with embedded(settings().home) as server:
        try:
            yield ensure_database(server.url, name)
        finally:
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def audit(url: str, book_id: int) -> dict[str, Any]:
    """Measures in this process. The audit comes first: memory is the highest that it ever took."""
    load = [round(os.getloadavg()[0], 1)]
    with Reader(url) as reader, reader.snapshot() as snapshot:
        outputs, audit_s = _timed(lambda: _whole_audit(snapshot))
        # In KiB on Linux, in bytes on macOS.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        load.append(round(os.getloadavg()[0], 1))
        with snapshot.session() as session:
            found, chain_s = _timed(lambda: scan(session, book_id, CHAIN))
            if not is_whole(found) or found.n != outputs["n_entries"]:
                raise RuntimeError("the book does not verify: what was measured was not the work")
            _, read_s = _timed(lambda: _drain(session, _PLAIN, {"book_id": book_id}))
            hash_s = _hashing(session, book_id)
    return {
        "audit_s": audit_s, "chain_s": chain_s, "read_floor_s": read_s, "hash_floor_s": hash_s,
        "peak_mib": peak / MIB, "load": load,
        "findings": [f"{item['check']} {item['severity']}" for item in outputs["findings"]],
    }  # fmt: skip


def _whole_audit(snapshot: Snapshot) -> Any:
    inputs: Any = {"chain": CHAIN, "run": {"audit_date": "2025-12-31"}, "anchors": []}
    return build_graph().invoke(inputs, context=AuditorContext(snapshot))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = perf_counter()
    result = work()
    return result, perf_counter() - began


def _drain(session: Session, statement: str, parameters: dict[str, Any]) -> None:
    with session.stream("floor", statement, parameters, PAGE) as pages:
        for _ in pages:
            pass


def _hashing(session: Session, book_id: int) -> float:
    """Seconds for hashing every text that verifying hashes, without the reading."""
    scales = currency_scales()
    parameters = {"book_id": book_id, "chain": CHAIN, "currencies": list(scales), "scales": list(scales.values())}
    seconds = 0.0
    with session.stream("texts", ENTRIES, parameters, PAGE) as pages:
        for page in pages:
            texts = [f"{row[2]}\n{row[4]}".encode() for row in page]
            began = perf_counter()
            for text in texts:
                sha256(text).hexdigest()
            seconds += perf_counter() - began
    return seconds


if __name__ == "__main__":
    print(json.dumps(audit(sys.argv[1], int(sys.argv[2]))))
