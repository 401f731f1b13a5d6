"""For each evaluator a recorded pair: outputs on which each of its keys is 1.0, and outputs on which it is below.

A new evaluator needs an entry here; a test demands it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pair:
    """What is expected, outputs that meet it, and by score key outputs that do not."""

    expected: Mapping[str, Any]
    right: Mapping[str, Any]
    wrong: Mapping[str, Mapping[str, Any]]


SALE = [
    {"account": "1110", "side": "debit", "amount": "119.00"},
    {"account": "4010", "side": "credit", "amount": "100.00"},
    {"account": "2210", "side": "credit", "amount": "19.00"},
]
TO_CASH = [{**SALE[0], "account": "1010"}, *SALE[1:]]
AT_16_PERCENT = [{**SALE[0], "amount": "116.00"}, SALE[1], {**SALE[2], "amount": "16.00"}]
BALANCES = {"1110": "119.00", "2210": "-19.00", "4010": "-100.00"}

PAPER = {
    "doc_type": "expense_receipt",
    "schema_type": "expense_receipt",
    "fields": {"total": "33.90", "currency": "MYR"},
    "row_count": 1,
    "rows": [{"description": "Nasi lemak", "amount": "33.90"}],
}
READ = {key: PAPER[key] for key in ("doc_type", "schema_type", "fields", "rows")}
MISREAD = {**READ, "fields": {"total": "39.30", "currency": "MYR"}, "rows": []}
TWO_PAPERS = {"documents": [PAPER, {**PAPER, "fields": {"total": "12.00", "currency": "MYR"}}]}
TWO_READ = {"proposals": [{**READ, "fields": {"total": "12.00", "currency": "MYR"}}, READ]}
FLOOR = {"field_accuracy_floor": 0.85}

SUSPENSE = {"family": "accounts", "check": "suspense_ageing", "severity": "high"}
EXPECTED_SUSPENSE = [{**SUSPENSE, "entries": ["V-000031"], "flag_fields": {"age_days": 95}}]
FOUND_SUSPENSE = [{**SUSPENSE, "voucher_ids": ["V-000031"], "flag_fields": {"age_days": 95, "account": "9010"}}]

PAIRS: Mapping[tuple[str, str], Pair] = {
    ("bookkeeper", "status"): Pair(
        {"status": "refused"}, {"status": "refused"}, {"status_correct": {"status": "posted"}}
    ),
    ("bookkeeper", "reason"): Pair(
        {"reason": "period_closed"}, {"reason": "period_closed"}, {"reason_correct": {"reason": None}}
    ),
    ("bookkeeper", "lines"): Pair(
        {"lines": SALE},
        {"lines": SALE},
        {"accounts_correct": {"lines": TO_CASH}, "lines_correct": {"lines": AT_16_PERCENT}},
    ),
    ("bookkeeper", "n_entries"): Pair({"n_entries": 1}, {"n_entries": 1}, {"n_entries_correct": {"n_entries": 2}}),
    ("bookkeeper", "n_lines"): Pair({"n_lines": 3}, {"n_lines": 3}, {"n_lines_correct": {"n_lines": 0}}),
    ("bookkeeper", "balances"): Pair(
        {"balances": BALANCES},
        {"balances": BALANCES},
        {"balances_correct": {"balances": {**BALANCES, "4010": "100.00"}}},
    ),
    ("bookkeeper", "posting_date"): Pair(
        {"posting_date": "2026-02-27"},
        {"posting_date": "2026-02-27"},
        {"posting_date_correct": {"posting_date": "2026-03-01"}},
    ),
    ("typewriter", "doc_type"): Pair(
        PAPER, {"proposals": [READ]}, {"doc_type_correct": {"proposals": [{**READ, "doc_type": "supplier_invoice"}]}}
    ),
    ("typewriter", "schema_type"): Pair(
        PAPER, {"proposals": [READ]}, {"schema_type_correct": {"proposals": [{**READ, "schema_type": "invoice"}]}}
    ),
    ("typewriter", "row_count"): Pair(
        PAPER, {"proposals": [READ]}, {"row_count_correct": {"proposals": [{**READ, "rows": []}]}}
    ),
    ("typewriter", "fields"): Pair(
        {**PAPER, **FLOOR},
        {"proposals": [READ]},
        {
            "field_accuracy": {"proposals": [MISREAD]},
            "field_accuracy_above_floor": {"proposals": [MISREAD]},
        },
    ),
    ("typewriter", "documents"): Pair(
        TWO_PAPERS,
        TWO_READ,
        {
            "doc_type_correct": {"proposals": [READ]},
            "schema_type_correct": {"proposals": [READ]},
            "row_count_correct": {"proposals": [READ]},
        },
    ),
    ("typewriter", "fields_of_documents"): Pair(
        {**TWO_PAPERS, **FLOOR},
        TWO_READ,
        {"field_accuracy": {"proposals": [READ]}, "field_accuracy_above_floor": {"proposals": [READ]}},
    ),
    ("typewriter", "n_proposals"): Pair(
        {"n_proposals": 1}, {"n_proposals": 1}, {"n_proposals_correct": {"n_proposals": 0}}
    ),
    ("typewriter", "fabrication"): Pair(
        {"max_fabricated": 0}, {"n_fabricated": 0}, {"fabrication_within_bound": {"n_fabricated": 1}}
    ),
    ("auditor", "chain_status"): Pair(
        {"chain_status": "broken"}, {"chain_status": "broken"}, {"chain_status_correct": {"chain_status": "intact"}}
    ),
    ("auditor", "first_broken_height"): Pair(
        {"first_broken_height": 7},
        {"first_broken_height": 7},
        {"first_broken_height_correct": {"first_broken_height": None}},
    ),
    ("auditor", "findings"): Pair(
        {"findings": EXPECTED_SUSPENSE},
        {"findings": FOUND_SUSPENSE},
        {
            "findings_correct": {"findings": [*FOUND_SUSPENSE, *FOUND_SUSPENSE]},
            "flag_fields_correct": {"findings": [{**FOUND_SUSPENSE[0], "flag_fields": {"age_days": 5}}]},
        },
    ),
    ("auditor", "n_findings"): Pair({"n_findings": 1}, {"n_findings": 1}, {"n_findings_correct": {"n_findings": 0}}),
    ("auditor", "not_run"): Pair(
        {"not_run": ["benford"]},
        {"not_run": {"benford": "too few amounts"}},
        {"not_run_correct": {"not_run": {}}},
    ),
    ("auditor", "severities"): Pair(
        {"severities": {"suspense_ageing": "high"}},
        {"severities": {"suspense_ageing": "high", "unbalanced_voucher": "critical"}},
        {"severities_correct": {"severities": {"suspense_ageing": "low"}}},
    ),
    ("auditor", "cannot_exclude"): Pair(
        {"cannot_exclude": 1},
        {"cannot_exclude": ["entries that were never recorded"]},
        {"cannot_exclude_correct": {"cannot_exclude": []}},
    ),
    ("auditor", "materiality"): Pair(
        {"materiality": "1200.00"}, {"materiality": "1200.00"}, {"materiality_correct": {"materiality": "120.00"}}
    ),
    ("clerk", "decision"): Pair(
        {"decision": "hold"}, {"decision": "hold"}, {"decision_correct": {"decision": "accept"}}
    ),
    ("clerk", "reasons"): Pair(
        {"reasons": ["approval_needed"]},
        {"reasons": ["approval_needed"]},
        {"reasons_correct": {"reasons": ["approval_needed", "self_approval"]}},
    ),
    ("clerk", "approvers"): Pair(
        {"approvers": ["ben"]}, {"approvers": ["ben"]}, {"approvers_correct": {"approvers": ["anna"]}}
    ),
    ("clerk", "queued"): Pair({"queued": None}, {"queued": None}, {"queued_correct": {}}),
    ("clerk", "filed"): Pair({"filed": "pending"}, {"filed": "pending"}, {"filed_correct": {"filed": "archive"}}),
    ("clerk", "doc_type"): Pair(
        {"doc_type": "rent_invoice"}, {"doc_type": "rent_invoice"}, {"doc_type_correct": {"doc_type": None}}
    ),
    ("clerk", "scope"): Pair({"scope": "in_scope"}, {"scope": "in_scope"}, {"scope_correct": {"scope": "elsewhere"}}),
    ("clerk", "cites"): Pair({"cites": ["AP-1"]}, {"cites": ["AP-1"]}, {"cites_correct": {"cites": []}}),
    ("clerk", "extraction"): Pair(
        {"extraction": {"gross": "5000.01", "supplier": "Birch Paper GmbH"}, "extraction_accuracy_floor": 0.75},
        {"extraction": {"gross": "5000.010", "supplier": "BIRCH PAPER  GmbH"}},
        {
            "extraction_accuracy": {"extraction": {"gross": "5000.10", "supplier": "Birch Paper GmbH"}},
            "extraction_accuracy_above_floor": {"extraction": {"gross": "5000.10", "supplier": "Birch Paper GmbH"}},
        },
    ),
}
