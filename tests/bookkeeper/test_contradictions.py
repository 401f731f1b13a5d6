"""A record that contradicts itself is for a person: no figure of it is left out, no fact of it is passed over."""

import pytest

from tests.bookkeeper.conftest import BookIt, Json
from tests.bookkeeper.records import lines_of, purchase, record, sale

TWO_RATES = {"net_a": "100.00", "rate_a": "20", "net_b": "50.00", "rate_b": "10"}
ONE_AND_ANOTHER = {"net": "100.00", "rate": "20", "net_b": "50.00", "rate_b": "10"}


@pytest.mark.parametrize(
    "contradicting",
    [
        record("sales_invoice", facts={"tax": "one_rate"}, amounts=TWO_RATES),
        record("sales_invoice", facts={"tax": "one_rate"}, amounts=ONE_AND_ANOTHER),
        record("sales_invoice", facts={"tax": "sales_tax"}, amounts=TWO_RATES),
        record("sales_invoice", facts={"tax": "none"}, amounts=TWO_RATES),
        record("sales_invoice", facts={"tax": "none"}, amounts={"net": "100.00", "rate": "20"}),
        record("partial_invoice", facts={"tax": "one_rate"}, amounts=TWO_RATES),
        record("sales_debit_note", facts={"tax": "one_rate"}, amounts=TWO_RATES),
        record("supplier_invoice", facts={"basis": "one_rate"}, amounts=TWO_RATES),
        record("supplier_invoice", facts={"basis": "stated_vat"}, amounts=TWO_RATES),
        record("utility_bill", amounts=ONE_AND_ANOTHER),
        record("sales_credit_note", facts={"document": "credit_note"}, amounts=ONE_AND_ANOTHER),
        purchase(facts={"deductible_share": "full"}, amounts={"deductible": "50"}),
        purchase(facts={"period": "current"}, service_period_end="2026-12-31"),
        purchase(facts={"advance": "none"}, amounts={"adv_net": "10.00", "adv_vat": "2.00"}),
        purchase(facts={"rounding": "no"}, amounts={"payable": "1200.05"}),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(contradicting: Json, book_it: BookIt) -> None:
    outputs = book_it(contradicting)
    assert (outputs["status"], outputs["reason"]) == ("refused", "unsupported_combination"), outputs["explanation"]
    assert (outputs["n_entries"], outputs["lines"]) == (0, [])


def test_two_lines_at_the_one_rate_are_no_contradiction(book_it: BookIt) -> None:
    amounts = {"net_a": "100.00", "rate_a": "20", "net_b": "50.00", "rate_b": "20"}
    outputs = book_it(record("sales_invoice", facts={"tax": "one_rate"}, amounts=amounts))
    assert lines_of(outputs) == ["1110 D 180.00", "4010 C 100.00", "4010 C 50.00", "2210 C 30.00"]


def test_facts_that_say_what_the_figures_show_are_fine(book_it: BookIt) -> None:
    facts = {"deductible_share": "full", "period": "current", "advance": "none", "rounding": "no"}
    amounts = {"deductible": "100", "payable": "1200.00"}
    assert book_it(purchase(facts=facts, amounts=amounts, service_period_end="2026-03-31"))["status"] == "posted"
    assert book_it(sale(facts={"tax": "one_rate", "currency": "book", "rounding": "no"}))["status"] == "posted"
