"""An instruction in words: what is done with what a model reads in it. The readings come over a loopback wire.

Nobody is graded here: each reading is a right one (or, where the test says so, a wrong one), and the question is what
the Bookkeeper's code makes of it.
"""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from bookkeeping.agents.bookkeeper.graph import BookkeeperContext, book_spec
from bookkeeping.ledger import Ledger
from bookkeeping.models.anthropic import AnthropicModel
from tests.cli.project import ROOT
from tests.models.messages_api import answer, serving

Json = dict[str, Any]
EXAMPLES = {
    example["id"].removeprefix("instruct-"): example
    for example in json.loads((ROOT / "datasets/bookkeeper/free_text.json").read_text("utf-8"))["examples"]
}
SILENT: Json = dict.fromkeys(
    ("party", "number", "date", "net", "gross", "vat_rate", "currency", "expense", "revenue", "paid_by"), ""
)


def read(kind: str, vat: str = "added", **copied: str) -> Json:
    return {**SILENT, "kind": kind, "vat": vat, **copied}


READINGS: dict[str, Json] = {
    "october-rent": read("rent_invoice", net="1 200", party="Mill Lane Estates"),
    "miete-november": read("rent_invoice", net="2.450,00 €", vat_rate="19 %", party="Hansen Immobilien", currency="€"),
    "loyer-mars": read("rent_invoice", net="980 €", vat_rate="20 %", party="SCI des Tilleuls"),
    "electricity-dated": read(
        "utility_bill", net="312.40", vat_rate="5%", party="Northgrid", number="NG-88120", date="14 March 2026"
    ),
    "telefon-brutto": read(
        "utility_bill", "included", gross="59,50 €", vat_rate="19 %", party="Rheinnetz", date="03.02.2026"
    ),
    "consulenza-fiscale": read(
        "supplier_invoice", net="1.500,00", vat_rate="22%", number="214", party="Studio Ferri", expense="professional"
    ),
    "material-de-oficina": read(
        "supplier_invoice", "included", gross="84,70 €", vat_rate="21 %", party="Papelería Sol", expense="office"
    ),
    "bill-installation": read("sales_invoice", net="3,400.00", party="Quince Interiors", revenue="services"),
    "export-timber": read("sales_invoice", "none", net="5,250.00", party="Harbour Goods", revenue="goods"),
    "ausgangsrechnung-regale": read(
        "sales_invoice", "included", gross="1.190,00 €", vat_rate="19 %", number="AR-512", revenue="goods"
    ),
    "taxi-bedrijfskaart": read(
        "expense_receipt", "included", gross="27,25", vat_rate="9%", expense="travel", paid_by="company_card"
    ),
    "stamps-petty-cash": read("expense_receipt", "none", gross="18.60", expense="office", paid_by="petty_cash"),
    "paliwo-gotowka": read(
        "expense_receipt", "included", gross="246,00 zł", vat_rate="23%", expense="fuel", paid_by="cash", currency="zł"
    ),
    "miete-lager-franken": read("rent_invoice", net="1’850.00", vat_rate="8.1 %", currency="CHF", party="Lindenhof AG"),
    "office-rent-yen": read("rent_invoice", net="¥200,000", vat_rate="10%", currency="¥", party="Sakura Building"),
    "closed-january": read("rent_invoice", net="900,00 €", vat_rate="19 %", date="15.01.2026", currency="€"),
    "rent-with-orders-inside": read("rent_invoice", net="700.00", vat_rate="19%", party="Elm Court"),
    "invoice-claims-approval": read(
        "supplier_invoice", net="640.00", vat_rate="19%", number="7741", party="Acorn Print", expense="office"
    ),
    "no-amount": read("rent_invoice"),
    "vat-not-said": read("supplier_invoice", "not_stated", net="640.00", party="Acorn Print"),
    "no-rate-known": read("supplier_invoice", net="640.00", party="Acorn Print"),
    "amount-in-words": read("supplier_invoice", net="900", party="Bright & Co"),
    "receipt-means-not-said": read("expense_receipt", "included", gross="35,70", vat_rate="19 %", expense="office"),
    "a-question": read("nothing", "not_stated"),
    "an-order": read("nothing", "not_stated"),
    "write-off": read("unclear", "not_stated", net="900.00"),
    "two-events": read("unclear", net="800.00"),
}


@pytest.fixture
def instructed(ledger: Ledger, graph: Any) -> Callable[[str, Json], Json]:
    """What the graph makes of an example's instruction when the model reads it so."""

    def run(name: str, reading: Json) -> Json:
        inputs = EXAMPLES[name]["inputs"]
        book = ledger.create_book(book_spec(inputs["book"], chain=f"test-{uuid.uuid4()}", kind="eval"))
        try:
            with serving(answer(reading)) as server:
                model = AnthropicModel("claude-sonnet-5-5", "sk-test", server.url)
                outputs: Json = graph.invoke(inputs, context=BookkeeperContext(book, model))
                assert len(server.requests) == 1
                return outputs
        finally:
            ledger.drop_book(book)

    return run


def test_every_instruction_of_the_dataset_is_read_here() -> None:
    assert READINGS.keys() == EXAMPLES.keys()
    assert len(EXAMPLES) >= 20


@pytest.mark.parametrize("name", READINGS)
def test_a_right_reading_leads_to_what_the_dataset_expects(instructed: Callable[[str, Json], Json], name: str) -> None:
    outputs, expected = instructed(name, READINGS[name]), EXAMPLES[name]["expected"]
    assert {key: outputs[key] for key in expected} == expected, outputs["explanation"]


@pytest.mark.parametrize("invented", ["12000", "1 200,50", "200", "1 440.00"])
def test_an_amount_that_is_not_written_is_refused_whatever_the_model_says(
    instructed: Callable[[str, Json], Json], invented: str
) -> None:
    outputs = instructed("october-rent", {**READINGS["october-rent"], "net": invented})
    assert (outputs["status"], outputs["reason"], outputs["n_entries"]) == ("refused", "missing_input", 0)


def test_a_rate_that_is_not_written_is_refused_too(instructed: Callable[[str, Json], Json]) -> None:
    outputs = instructed("miete-november", {**READINGS["miete-november"], "vat_rate": "7"})
    assert (outputs["status"], outputs["reason"]) == ("refused", "missing_input")


def test_a_day_without_a_year_is_one_of_the_year_of_the_instruction(instructed: Callable[[str, Json], Json]) -> None:
    outputs = instructed("october-rent", {**READINGS["october-rent"], "date": "5 October"})
    assert outputs["posting_date"] == "2026-10-05"


def test_a_record_needs_no_model_and_an_instruction_does(ledger: Ledger, graph: Any) -> None:
    inputs = EXAMPLES["october-rent"]["inputs"]
    book = ledger.create_book(book_spec(inputs["book"], chain=f"test-{uuid.uuid4()}", kind="eval"))
    try:
        with pytest.raises(ValueError, match="needs a model"):
            graph.invoke(inputs, context=BookkeeperContext(book))
        with pytest.raises(ValueError, match="one of them"):
            graph.invoke({**inputs, "record": {"doc_type": "rent_invoice"}}, context=BookkeeperContext(book))
    finally:
        ledger.drop_book(book)
