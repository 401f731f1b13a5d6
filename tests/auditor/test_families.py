"""Each family finds the fault that is planted in a fresh book, and stays silent at its near miss."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.auditor.conftest import Audit

Plant = Mapping[str, Any]


def entry(kind: str, on: str, lines: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "on": on, "lines": lines, **more}


def found(outputs: Mapping[str, Any], family: str) -> list[tuple[str, str, list[str]]]:
    return [
        (item["check"], item["severity"], item["voucher_ids"])
        for item in outputs["findings"]
        if item["family"] == family
    ]


PAYMENT = {"party_id": "S-1", "amount": "1250.00", "currency": "EUR", "invoice_ref": "INV-88"}
TWO_PAYMENTS = [
    entry("bank_statement", "2025-10-06", "1320 D 1250.00, 1040 C 1250.00", party="S-1"),
    entry("bank_statement", "2025-10-20", "1320 D 1250.00, 1040 C 1250.00", party="S-1"),
]


def payments(**second: Any) -> dict[str, Any]:
    first = {"payment_id": "PAY-50", "seq": 31, "paid_on": "2025-10-06", **PAYMENT}
    return {"payments": [first, {**PAYMENT, "payment_id": "PAY-51", "seq": 32, "paid_on": "2025-10-20", **second}]}


def rounds(n: int) -> dict[str, Any]:
    """A user with n round vouchers of 2,000.00 on as many weekdays, none of them manual."""
    each = entry("supplier_invoice", "2025-06-02", "6140 D 2000.00, 2040 C 2000.00", by="U7", number="A-{k}")
    return {"repeat": [{"n": n, "every": 7, "entry": each}]}


def statement(closing: str) -> dict[str, Any]:
    return {
        "statements": [
            {"account": "1050", "number": 1, "statement_date": "2025-10-31", "opening": "0.00", "closing": closing}
        ],
        "statement_lines": [{"account": "1050", "number": 1, "line_no": 1, "amount": "112.50", "seq": 31}],
    }


FX = [entry("bank_statement", "2025-10-06", "1050 D 112.50, 1040 C 112.50")]
REVERSE_CHARGE = "6140 D 1000.00, 1420 D 200.00, 2010 C {}"

CASES: list[tuple[str, Plant, list[tuple[str, str, list[str]]], Plant]] = [
    (
        "balance",
        {"entries": [entry("sales_debit_note", "2025-10-06", "1110 D 50.00, 4010 C 50.00", open_items=False)]},
        [("subledger_mismatch", "high", [])],
        {"entries": [entry("sales_debit_note", "2025-10-06", "1110 D 50.00, 4010 C 50.00")]},
    ),
    (
        "duplicates",
        {"entries": TWO_PAYMENTS, "records": payments()},
        [("duplicate_payment_exact", "high", ["V-000031", "V-000032"])],
        {"entries": TWO_PAYMENTS, "records": payments(amount="1250.01")},
    ),
    (
        "digit_tests",
        rounds(20),
        [("round_amounts", "medium", [f"V-{seq:06d}" for seq in range(31, 51)])] * 2,
        rounds(19),
    ),
    (
        "period",
        {"entries": [entry("supplier_invoice", "2026-01-05", "6160 D 820.00, 2040 C 820.00", supply="2025-12-30")]},
        [("cut_off_wrong_period", "medium", ["V-000031"])],
        {"entries": [entry("supplier_invoice", "2026-01-05", "6160 D 820.00, 2040 C 820.00", supply="2026-01-01")]},
    ),
    (
        "controls",
        {"entries": [entry("bank_statement", "2025-10-06", "1320 D 1000.01, 1040 C 1000.01", approved=[])]},
        [("missing_approval", "high", ["V-000031"])],
        {"entries": [entry("bank_statement", "2025-10-06", "1320 D 1000.00, 1040 C 1000.00", approved=[])]},
    ),
    (
        "accounts",
        {"entries": [entry("petty_cash_voucher", "2025-10-06", "6150 D 300.01, 1020 C 300.01")]},
        [("negative_cash", "high", ["V-000031"])],
        {"entries": [entry("petty_cash_voucher", "2025-10-06", "6150 D 300.00, 1020 C 300.00")]},
    ),
    (
        "tax",
        {"entries": [entry("reverse_charge_invoice", "2025-10-06", REVERSE_CHARGE.format("1200.00"))]},
        [("reverse_charge_incomplete", "high", ["V-000031"])],
        {"entries": [entry("reverse_charge_invoice", "2025-10-06", REVERSE_CHARGE.format("1000.00, 2220 C 200.00"))]},
    ),
    (
        "matching",
        {"entries": FX, "records": statement("112.51")},
        [("bank_reconciliation_break", "high", [])] * 2,
        {"entries": FX, "records": statement("112.50")},
    ),
]
IDS = [case[0] for case in CASES]


@pytest.mark.parametrize(("family", "plant", "expected", "_near"), CASES, ids=IDS)
def test_a_family_finds_its_fault(
    audit: Audit, family: str, plant: Plant, expected: list[tuple[str, str, list[str]]], _near: Plant
) -> None:
    assert found(audit(**plant), family) == expected


@pytest.mark.parametrize(("family", "_plant", "_expected", "near"), CASES, ids=IDS)
def test_a_family_is_silent_at_its_near_miss(
    audit: Audit, family: str, _plant: Plant, _expected: list[Any], near: Plant
) -> None:
    assert found(audit(**near), family) == []


def test_the_chain_finds_a_changed_amount(audit_chain: Audit) -> None:
    outputs = audit_chain({"op": "change", "seq": 5, "amounts": {"1": "900.00", "2": "900.00"}})
    assert found(outputs, "hash_chain") == [("hash_tampered_row", "critical", ["V-000005"])]
    assert (outputs["chain_status"], outputs["first_broken_height"]) == ("broken", 5)


def test_the_chain_is_silent_where_the_amount_changed_is_the_same(audit_chain: Audit) -> None:
    outputs = audit_chain({"op": "change", "seq": 5, "amounts": {"1": "100.0000", "2": "100"}})
    assert found(outputs, "hash_chain") == []
    assert (outputs["chain_status"], outputs["first_broken_height"]) == ("intact", None)


def test_a_check_without_its_records_is_not_run_and_has_no_verdict(audit: Audit) -> None:
    outputs = audit(not_kept=["stock_moves"])
    assert outputs["not_run"]["negative_stock"] == "the book does not keep stock_moves"
    assert "negative_stock" not in outputs["severities"]


def test_every_check_has_a_verdict_or_a_reason(audit: Audit) -> None:
    outputs = audit()
    assert len(outputs["severities"]) + len(outputs["not_run"]) == 43
    assert not set(outputs["severities"]) & set(outputs["not_run"])
    assert set(outputs["severities"].values()) == {"none"}


def test_without_an_anchor_the_report_says_what_it_cannot_exclude(audit_chain: Audit) -> None:
    assert audit_chain()["cannot_exclude"] == [
        "Without an anchor a cut tail and a re-hashed suffix cannot be excluded."
    ]
    assert audit_chain(anchors=(10,))["cannot_exclude"] == []


def test_a_run_that_names_an_unknown_check_is_refused(audit: Audit) -> None:
    with pytest.raises(ValueError, match="there is no check 'benfort'"):
        audit(run={"checks": ["benfort"]})


def test_a_run_can_ask_for_some_checks_only(audit: Audit) -> None:
    outputs = audit(run={"checks": ["negative_cash", "hash_tampered_row"]})
    assert list(outputs["severities"]) == ["hash_tampered_row", "negative_cash"]


def test_a_weekend_entry_is_high_where_another_check_doubts_it(audit: Audit) -> None:
    sunday = {"at": "2025-10-12T02:14", "source": "manual", "by": "U7"}
    alone = audit(entries=[entry("journal_voucher", "2025-10-12", "6160 D 50.00, 2040 C 50.00", **sunday)])
    doubted = audit(entries=[entry("journal_voucher", "2025-10-12", "2210 D 50.00, 2040 C 50.00", **sunday)])
    assert found(alone, "period") == [("weekend_after_hours", "low", ["V-000031"])]
    assert found(doubted, "period") == [("weekend_after_hours", "high", ["V-000031"])]
