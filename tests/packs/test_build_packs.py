"""The program: folders of documents in, a pack in the dataset format out, and a list of what was left out."""

import json
from pathlib import Path

import pytest

from eval_pipeline.dataset import load_dataset
from scripts.build_packs import main
from tests.packs import documents


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with one good invoice of each of two sources, and one that cannot be converted."""
    root = tmp_path / "public"
    ubl, gobl = root / "xrechnung-testsuite" / "xml", root / "gobl" / "json"
    ubl.mkdir(parents=True)
    gobl.mkdir(parents=True)
    (ubl / "plain.xml").write_text(documents.ubl([("S", "19", "100", "19")], "100", "19", "119"), "utf-8")
    vat = documents.category("VAT", "21", "10.00", "2.10")
    (gobl / "es invoice.json").write_text(documents.gobl([vat], "10.00", "2.10", "12.10"), "utf-8")
    (gobl / "broken.json").write_text("{", "utf-8")
    return root


def test_a_pack_is_a_dataset_with_both_sides_of_each_invoice(source: Path, tmp_path: Path) -> None:
    assert main(["--source", str(source), "--out", str(tmp_path / "pack")]) == 0
    dataset = load_dataset(tmp_path / "pack" / "bookkeeper")
    assert [example.id for example in dataset.examples] == [
        "gobl.es-invoice.received",
        "gobl.es-invoice.issued",
        "xrechnung-testsuite.plain.received",
        "xrechnung-testsuite.plain.issued",
    ]


def test_what_was_left_out_is_named_with_its_reason(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--source", str(source), "--out", str(tmp_path / "pack")])
    told = capsys.readouterr().out
    assert "gobl: 2 examples, 1 documents left out\n  1 x it is not JSON\n      broken\n" in told
    assert told.endswith(f"4 examples in {tmp_path / 'pack'}\n")


def test_the_same_documents_give_the_same_bytes(source: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        main(["--source", str(source), "--out", str(tmp_path / name)])
    files = sorted(file.relative_to(tmp_path / "one") for file in (tmp_path / "one").rglob("*.json"))
    assert files
    assert all((tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes() for file in files)


def test_a_document_that_was_not_kept_is_read_from_its_stated_figures(source: Path, tmp_path: Path) -> None:
    fields = {
        "type_code": "380", "number": "T-1", "issue_date": "2026-02-01", "currency": "EUR", "net": "50.00",
        "tax": "9.50", "gross": "59.50", "prepaid": None, "rounding": None, "payable": "59.50", "line_count": 1,
        "supplier": {"name": "Ferry Ltd", "tax_id": None}, "customer": {"name": "Larch", "country": "DE"},
        "tax_breakdown": [{"category": "S", "rate": "19", "taxable": "50.00", "tax": "9.50"}],
    }  # fmt: skip
    truth = source / "xrechnung-testsuite" / "truth.json"
    truth.write_text(json.dumps([{"id": "large", "fields": fields}, {"id": "order", "fields": None}]), "utf-8")
    assert main(["--source", str(source), "--out", str(tmp_path / "pack")]) == 0
    example = load_dataset(tmp_path / "pack" / "bookkeeper").by_id["xrechnung-testsuite.large.received"]
    assert example.expected["balances"] == {"6250": "50.00", "1410": "9.50", "2010": "-59.50"}


def test_a_pack_that_is_built_again_holds_nothing_of_before(source: Path, tmp_path: Path) -> None:
    main(["--source", str(source), "--out", str(tmp_path / "pack")])
    (source / "gobl" / "json" / "es invoice.json").unlink()
    main(["--source", str(source), "--out", str(tmp_path / "pack")])
    assert [file.name for file in (tmp_path / "pack").rglob("*.json")] == ["xrechnung-testsuite.json"]


@pytest.mark.parametrize("content", [None, "empty"])
def test_a_source_that_is_not_there_is_a_wrong_call(
    tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "nowhere"
    if content:
        folder.mkdir()
    with pytest.raises(SystemExit) as ended:
        main(["--source", str(folder), "--out", str(tmp_path / "pack")])
    assert ended.value.code == 2
    assert str(folder) in capsys.readouterr().err
