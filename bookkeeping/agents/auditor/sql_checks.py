"""Running the checks that are SQL: each statement gives a row for each finding.

Columns are the flag fields, ``severity`` and ``voucher_ids``. A statement is given the check's parameters by name and
``book_id, company, currency, country, scale, minor_unit, zone, audit_date, first_day, last_day, materiality,
cash_basis``.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from psycopg.types.json import Jsonb

from bookkeeping.agents.auditor import vat_numbers
from bookkeeping.agents.auditor.book import AuditedBook
from bookkeeping.agents.auditor.catalogue import Check
from bookkeeping.agents.auditor.finding import Examined, Finding
from bookkeeping.agents.auditor.inputs import Run
from bookkeeping.agents.auditor.reading import Session
from bookkeeping.ledger.sealing import at_scale

NOT_RUN = "not_run"
"""A severity that a statement may give instead of one: the check does not apply to this book; ``reason`` says why."""

Row = Mapping[str, Any]


def missing(check: Check, book: AuditedBook, run: Run) -> str | None:
    """Why a check cannot be run on this book; None when it can."""
    lacking = [name for name in check.needs if name not in book.kept]
    if lacking:
        return f"the book does not keep {', '.join(lacking)}"
    if check.id == "cut_off_wrong_period" and run.is_cash_basis:
        return "the book is kept on a cash basis"
    return None


def common(book: AuditedBook, run: Run) -> dict[str, Any]:
    """The parameters that every statement has."""
    return {
        "book_id": book.book_id, "company": book.company, "currency": book.currency, "country": book.country,
        "scale": book.scale, "minor_unit": Decimal(1).scaleb(-book.scale), "zone": book.time_zone,
        "audit_date": run.audit_date, "first_day": run.first_day, "last_day": run.last_day,
        "materiality": book.materiality, "cash_basis": run.is_cash_basis,
    }  # fmt: skip


def examine(session: Session, book: AuditedBook, run: Run, checks: Iterable[tuple[Check, Row]]) -> Examined:
    """Runs checks with their parameters, one after the other."""
    findings: list[Finding] = []
    ran: list[str] = []
    not_run: dict[str, str] = {}
    for check, parameters in checks:
        reason = missing(check, book, run)
        rows = [] if reason else _rows(session, check, common(book, run) | _as_sql(parameters))
        if rows and rows[0]["severity"] == NOT_RUN:
            reason = rows[0]["reason"]
        if reason:
            not_run[check.id] = reason
            continue
        ran.append(check.id)
        findings.extend(_finding(check, row, book.currency) for row in rows)
    return Examined(tuple(findings), tuple(ran), not_run)


def _rows(session: Session, check: Check, parameters: Row) -> list[Row]:
    names, rows = session.rows(check.statement, parameters)
    found: Iterable[Row] = (dict(zip(names, row, strict=True)) for row in rows)
    return list(IN_PYTHON.get(check.id, list)(found))


def _as_sql(parameters: Row) -> dict[str, Any]:
    return {name: Jsonb(value) if isinstance(value, list | dict) else value for name, value in parameters.items()}


def _finding(check: Check, row: Row, currency: str) -> Finding:
    flags = {name: _at_scale(name, row[name], currency) for name in check.flag_fields}
    return Finding(check.id, row["severity"], flags, tuple(row["voucher_ids"] or ()))


def _at_scale(name: str, value: Any, currency: str) -> Any:
    return at_scale(value, currency) if name in AMOUNTS and isinstance(value, Decimal) else value


AMOUNTS = frozenset(
    {
        "amount", "amount_total", "balance", "balance_table_total", "base", "credit_total", "debit_total", "difference",
        "expected", "expected_closing", "input_tax", "journal_total", "ledger_total", "left", "limit",
        "open_item_total", "output_tax", "remaining", "right", "stated_closing", "sum", "vat",
    }
)  # fmt: skip
"""Flag fields that are money: told with all decimals of the book's currency."""

IN_PYTHON: Mapping[str, Callable[[Iterable[Row]], Iterable[Row]]] = {
    "vat_number_invalid": vat_numbers.with_fault,
}
"""Checks whose statement gives candidates, judged by a function."""
