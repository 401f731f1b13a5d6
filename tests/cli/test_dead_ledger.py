"""A dead or unmarked ledger is a SKIP with its reason, and fatal only under strict."""

import json
import shutil

import psycopg
import pytest

from tests.cli.agents import register
from tests.cli.project import ROOT, Project

EXAMPLE = {
    "id": "ledger-042",
    "inputs": {
        "book": {"company": "Larch Trading Ltd", "currency": "EUR", "open_from": "2026-01-01", "open_to": "2026-12-31"},
        "record": {
            "doc_type": "sales_invoice",
            "number": "S-1",
            "date": "2026-03-04",
            "issuer": "Larch Trading Ltd",
            "currency": "EUR",
            "facts": {"tax": "one_rate"},
            "amounts": {"net": "250.00", "rate": "20"},
            "categories": {"revenue": "goods"},
        },
    },
    "expected": {
        "status": "posted",
        "reason": None,
        "lines": [
            {"account": "1110", "side": "debit", "amount": "300.00"},
            {"account": "4010", "side": "credit", "amount": "250.00"},
            {"account": "2210", "side": "credit", "amount": "50.00"},
        ],
        "n_entries": 1,
        "n_lines": 3,
        "balances": {"1110": "300.00", "4010": "-250.00", "2210": "-50.00"},
        "posting_date": "2026-03-04",
    },
}


@pytest.fixture
def books(bare: Project) -> Project:
    """A copy of the project with the Bookkeeper alone, and one sale."""
    bare.dataset("bookkeeper", [EXAMPLE])
    for folder in (bare.folder / "bookkeeping" / "agents").iterdir():
        if folder.is_dir() and folder.name != "bookkeeper":
            shutil.rmtree(folder)
    assert (ROOT / "bookkeeping" / "agents" / "bookkeeper").is_dir()
    register(bare, "bookkeeping.agents.bookkeeper")
    return bare


def test_the_sale_is_posted_and_green(books: Project) -> None:
    ended = books.run("run", "bookkeeper", "--json")
    assert ended.code == 0, ended.out
    assert ended.json["state"] == "GREEN"
    told = books.run("trace", "bookkeeper/ledger-042")
    for node in ("understand", "select", "compute", "check", "post", "report"):
        assert f"node {node}" in told.out
    with psycopg.connect(books.environment["EVAL_LEDGER_URL"]) as connection:
        assert connection.execute("select count(*) from ledger.books").fetchone() == (0,)


def test_a_dead_ledger_is_a_skip_with_its_address(books: Project) -> None:
    dead = {"EVAL_LEDGER_URL": "postgresql://keeper:hunter2@127.0.0.1:1/books"}
    ended = books.run("run", "bookkeeper", **dead)
    assert "[SKIP] ledger-042  no Postgres reachable at 127.0.0.1:1" in ended.out
    assert "UNPROVEN" in ended.out
    assert ended.code == 0
    assert "hunter2" not in ended.out + ended.err
    assert books.run("run", "bookkeeper", "--strict", **dead).code == 1
    assert books.run("gate", **dead).code == 1


def test_a_ledger_without_the_marker_is_not_written_to(books: Project, database_url: str) -> None:
    ended = books.run("run", "bookkeeper", "--json", EVAL_LEDGER_URL=database_url)
    assert ended.code == 0
    assert ended.verdict("ledger-042")["verdict"] == "SKIP"
    with psycopg.connect(database_url) as connection:
        found = connection.execute("select count(*) from pg_tables where schemaname = 'ledger'").fetchone()
    assert found == (0,)


def test_a_posting_rule_with_its_sides_swapped_turns_the_board_red(books: Project) -> None:
    swapped = 0
    for file in (books.folder / "bookkeeping/agents/bookkeeper/posting_rules").rglob("*.json"):
        value = json.loads(file.read_text("utf-8"))
        for rule in value.get("rules", []) if isinstance(value, dict) else value:
            if rule["doc_type"] == "sales_invoice":
                for line in next(v for v in rule["variants"] if v["id"] == "domestic_vat")["lines"]:
                    line["side"] = {"debit": "credit", "credit": "debit"}[line["side"]]
                    swapped += 1
        file.write_text(json.dumps(value), "utf-8")
    assert swapped == 3
    ended = books.run("run", "bookkeeper", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    line = ended.verdict("ledger-042")
    assert line["verdict"] == "FAIL"
    assert {"accounts_correct", "lines_correct", "balances_correct"} <= set(line["failed"])
