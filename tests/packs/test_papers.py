"""Papers for the Typewriter: a published value is expected only where the text has it, in one reading only."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.dataset import load_dataset
from scripts.build_packs import main
from scripts.packs.paper import NEUTRAL, stands

RECEIPT = """HOLM HARDWARE
CASH BILL 88
DATE: 14/12/2017
HINGES        2 x 4.25     8.50
TOTAL RM                  8.50
"""
STATEMENT = """:20:STARTUMS
:25:20069144/0008831420
:28C:151/1
:60F:C240830EUR1000,
:61:2408310831D12,50NTRFNONREF
:61:2409010901C100,NTRFNONREF
:62F:C240901EUR1087,50
"""
INVOICE = """Ferry Ltd
INVOICE T-1 of 13.02.2026
To: Alder & Sons
Rope            50,00
Total net EUR   50,00
VAT 19 %         9,50
Total EUR       59,50
"""


@pytest.mark.parametrize(
    ("text", "name", "value", "expected"),
    [
        ("TOTAL 1,234.50", "total", "1234.5", True),
        ("TOTAL 1.234,50", "total", "1234.50", True),
        ("TOTAL 1 234,50", "total", "1234.50", True),
        ("TOTAL 11,234.50", "total", "1234.50", False),
        ("TOTAL 1,234.505", "total", "1234.50", False),
        ("TOTAL (8.50)", "total", "-8.50", True),
        (":62F:C240901EUR1000,", "closing_balance", "1000.00", True),
        ("14/12/2017", "date", "2017-12-14", True),
        ("12/14/2017", "date", "2017-12-14", True),
        ("04/12/2017", "date", "2017-12-04", False),
        ("4.12.2017", "date", "2017-12-04", True),
        ("2017-12-04", "date", "2017-12-04", True),
        ("4 December 2017", "date", "2017-12-04", True),
        ("Dec 4, 2017", "date", "2017-12-04", True),
        ("24.12.2017", "date", "2017-12-04", False),
        ("no day", "date", "YYYY-MM-DD", False),
        ("TOTAL RM 5", "currency", "MYR", True),
        ("THE FARM 5", "currency", "MYR", False),
        ("TOTAL 5", "currency", "EUR", False),
        ("Pesos 5", "currency", "Pesos", False),
        ("Holm  Hardware\nLtd", "issuer", "HOLM HARDWARE LTD", True),
        ("Holm Hard", "issuer", "Holm Hardware", False),
    ],
)
def test_a_value_stands_where_it_is_written_and_can_be_read_in_one_way(
    text: str, name: str, value: str, expected: bool
) -> None:
    assert stands(text, name, value) is expected


@given(st.decimals("0.01", "999999", places=2), st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", ".")]))
def test_an_amount_stands_in_every_usual_format_and_one_cent_more_does_not(
    amount: Decimal, marks: tuple[str, str]
) -> None:
    group, mark = marks
    written = f"{amount:,.2f}".translate({ord(","): group, ord("."): mark})
    assert stands(f"TOTAL {written} -", "total", str(amount))
    assert not stands(f"TOTAL {written} -", "total", str(amount + Decimal("0.01")))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """One paper of each kind, all our own."""
    root = tmp_path / "public"
    receipt = {
        "id": "r1", "doc_type": "expense_receipt", "text": RECEIPT, "labels": {"company": "HOLM HARDWARE"},
        "normalised": {"date": "2017-12-14", "total": "8.50", "currency": "MYR"},
    }  # fmt: skip
    nothing = {**receipt, "id": "r2", "text": "faded\n"}
    statement = {
        "id": "s1", "statements": 1, "currency": ["EUR"], "account": "20069144/0008831420", "opening": "1000.00",
        "closing": "1087.50", "movements": [
            {"value_date": "2024-08-31", "amount": "-12.50"}, {"value_date": "2024-09-01", "amount": "100.00"}],
    }  # fmt: skip
    invoice = {
        "id": "i1", "doc_type": "supplier_invoice", "lines": [{"description": "Rope", "net": "50.00"}],
        "fields": {
            "number": "T-1", "issue_date": "2026-02-13", "currency": "EUR", "net": "50.00", "tax": "9.50",
            "gross": "59.50", "due_date": "2026-03-13", "supplier": {"name": "Ferry Ltd", "tax_id": "DE1"},
            "customer": {"name": "Alder & Sons"}},
    }  # fmt: skip
    write(root / "sroie" / "train.jsonl", json.dumps(receipt) + "\n" + json.dumps(nothing) + "\n")
    write(root / "mt940" / "truth.json", json.dumps([statement]))
    write(root / "mt940" / "sta" / "s1.sta", STATEMENT)
    write(root / "ubl-samples" / "truth.json", json.dumps([invoice]))
    write(root / "ubl-samples" / "text" / "i1.txt", INVOICE)
    return root


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def examples(source: Path, out: Path) -> dict[str, Any]:
    assert main(["--source", str(source), "--out", str(out)]) == 0
    return {example.id: example for example in load_dataset(out / "typewriter").examples}


def test_each_kind_of_paper_becomes_an_example_with_what_it_states(source: Path, tmp_path: Path) -> None:
    made = examples(source, tmp_path / "pack")
    assert made.keys() == {"sroie.r1", "mt940.s1", "ubl-samples.i1"}
    receipt = {"issuer": "HOLM HARDWARE", "date": "2017-12-14", "total": "8.50", "currency": "MYR"}
    assert made["sroie.r1"].expected["fields"] == receipt
    assert made["sroie.r1"].expected["schema_type"] == "receipt"
    assert made["sroie.r1"].inputs["company"] == NEUTRAL
    statement = made["mt940.s1"].expected
    assert statement["fields"]["closing_balance"] == "1087.50"
    assert statement["row_count"] == 2
    assert statement["rows"] == [
        {"value_date": "2024-08-31", "amount": "-12.50"},
        {"value_date": "2024-09-01", "amount": "100.00"},
    ]
    invoice = made["ubl-samples.i1"]
    assert invoice.inputs["company"] == "Alder & Sons"
    assert invoice.expected["fields"]["total"] == "59.50"
    assert not {"due_date", "issuer_tax_id"} & invoice.expected["fields"].keys()


def test_a_paper_on_which_nothing_published_stands_is_named_and_left_out(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples(source, tmp_path / "pack")
    told = capsys.readouterr().out
    assert "sroie: 1 papers, 4 of 4 published values stand on the paper" in told
    assert "1 left out, none of whose published values stands on them: r2" in told


def test_the_texts_lie_beside_the_examples_that_cite_them(source: Path, tmp_path: Path) -> None:
    examples(source, tmp_path / "pack")
    assert (tmp_path / "pack" / "typewriter" / "sroie" / "sroie.r1.txt").read_text("utf-8") == RECEIPT
