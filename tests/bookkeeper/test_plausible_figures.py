"""Figures that cannot be are refused; they are not booked with the sides turned."""

from typing import Any

import pytest

from tests.bookkeeper.conftest import BookIt
from tests.bookkeeper.records import read, record_for

EXAMPLES = {example["rule"]: example["inputs"] for example in read("worked_examples.json")}

IMPLAUSIBLE: list[tuple[str, dict[str, str], dict[str, str]]] = [
    # rule, figures on the limit, figures beyond it
    ("depreciation_schedule.straight_line_month", {"residual": "28.00"}, {"residual": "100.01"}),
    ("depreciation_schedule.last_month", {"residual": "28.00"}, {"residual": "100.01"}),
    ("asset_disposal_form.gain", {"accumulated": "100.00"}, {"accumulated": "100.01"}),
    ("asset_disposal_form.loss", {"accumulated": "100.00"}, {"accumulated": "100.01"}),
    ("asset_disposal_form.sold_at_loss", {"accumulated": "90.00", "proceeds": "9.99"}, {"accumulated": "100.01"}),
    ("loan_drawdown_notice.net_of_fee", {"fee": "100.00"}, {"fee": "100.01"}),
    ("dividend_received_advice.net_of_tax", {"wht": "100.00"}, {"wht": "100.01"}),
    ("factoring_statement.with_recourse", {"fee": "80.00", "fee_vat": "20.00"}, {"fee": "80.01", "fee_vat": "20.00"}),
    (
        "factoring_statement.without_recourse",
        {"retained": "10.00", "fee": "80.00", "fee_vat": "10.00"},
        {"retained": "10.01", "fee": "80.00", "fee_vat": "10.00"},
    ),
    ("factoring_statement.recourse_collection", {"advance": "100.00"}, {"advance": "100.01"}),
    ("bill_of_exchange.discounted", {"discount": "100.00"}, {"discount": "100.01"}),
    ("bill_of_exchange.discounted_with_recourse", {"discount": "100.00"}, {"discount": "100.01"}),
    ("bank_statement.customer_pays_net_of_withholding", {"wht": "100.00"}, {"wht": "100.01"}),
    ("bank_statement.pay_with_withholding", {"wht": "100.00"}, {"wht": "100.01"}),
    ("bank_statement.interest_received_net_of_tax", {"tax": "100.00"}, {"tax": "100.01"}),
    ("progress_invoice.with_retention", {"retention": "120.00"}, {"retention": "120.01"}),
    ("withholding_fee_invoice.withhold_on_invoice", {"wht_base": "120.00"}, {"wht_base": "120.01"}),
    ("dividend_declaration.declare", {"wht": "100.00"}, {"wht": "100.01"}),
    ("cost_allocation_memo.by_key", {"pct": "100"}, {"pct": "100.01"}),
    ("cost_allocation_memo.receiver", {"pct": "100"}, {"pct": "100.01"}),
    ("cost_allocation_memo.departments", {"pct": "100"}, {"pct": "100.01"}),
    ("provision_memo.doubtful_receivables", {"pct": "100"}, {"pct": "100.01"}),
    ("payroll_register.month", {"tax": "97.00"}, {"tax": "97.01"}),
    ("payroll_register.advance_recovered", {"tax": "90.00"}, {"tax": "90.01"}),
    ("termination_settlement.leaver", {"tax": "109.00"}, {"tax": "109.01"}),
    ("sales_tax_return.file_and_pay", {"allowance": "100.00"}, {"allowance": "100.01"}),
]
WHOLE = dict.fromkeys(
    ("cost", "principal", "gross", "advance", "face", "amount", "invoice", "interest", "net"), "100.00"
)
PARTS = {"residual": "0.00", "ee_ss": "1.00", "ee_pension": "1.00", "other": "1.00", "severance": "100.00"}
OTHERS = {"rate": "20", "wht_rate": "100", "leave": "10.00", "existing": "0.00", "proceeds": "50.00", "tax": "100.00"}
OF_A_RULE = {"payroll_register.advance_recovered": {"advance": "7.00"}}


def with_figures(rule: str, figures: dict[str, str]) -> dict[str, Any]:
    """The worked example of the rule with round figures: everything is a part of 100.00."""
    known = {**EXAMPLES[rule], **WHOLE, **PARTS, **OTHERS, **OF_A_RULE.get(rule, {}), **figures}
    return record_for(rule, {name: known[name] for name in EXAMPLES[rule]})


@pytest.mark.parametrize(("rule", "limit", "beyond"), IMPLAUSIBLE, ids=[case[0] for case in IMPLAUSIBLE])
def test_a_part_above_its_whole_is_refused(
    rule: str, limit: dict[str, str], beyond: dict[str, str], book_it: BookIt
) -> None:
    at_limit = book_it(with_figures(rule, limit))
    assert (at_limit["status"], at_limit["rule"]) == ("posted", rule), at_limit["explanation"]
    outputs = book_it(with_figures(rule, beyond))
    assert (outputs["status"], outputs["reason"], outputs["n_entries"]) == ("refused", "out_of_tolerance", 0)


def test_withheld_tax_that_is_stated_may_not_exceed_the_invoice_either(book_it: BookIt) -> None:
    record = with_figures("withholding_fee_invoice.withhold_on_invoice", {"wht_base": "100.00"})
    assert book_it({**record, "stated": {"wht": "120.00"}})["status"] == "posted"
    assert book_it({**record, "stated": {"wht": "120.01"}})["reason"] == "out_of_tolerance"


def test_an_instalment_below_its_interest_is_added_to_the_loan(book_it: BookIt) -> None:
    outputs = book_it(
        record_for("loan_statement.instalment", {"payment": "100.00", "interest": "130.00", "fee": "0.00"})
    )
    assert outputs["balances"] == {"2410": "-30.00", "7020": "130.00", "1040": "-100.00"}
