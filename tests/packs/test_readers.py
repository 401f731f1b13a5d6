"""What each reader takes from a document of its format, and what it leaves out and why."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.packs import cfdi, en16931, fatturapa, gobl
from scripts.packs.stated import CannotConvert, Group, Invoice, Kind, NoEntry, Receipt, Tax, decimal
from tests.packs import documents

Write = Callable[[str], Path]
D = Decimal


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(content: str) -> Path:
        file = tmp_path / "document"
        file.write_text(content, "utf-8")
        return file

    return to_file


def _invoice(stated: object) -> Invoice:
    assert isinstance(stated, Invoice)
    return stated


def test_a_ubl_invoice_is_read_with_its_rates_in_order_and_nil_groups_dropped(write: Write) -> None:
    groups = [("S", "19", "100.00", "19.00"), ("E", "0", "0", "0"), ("S", "7", "50.00", "3.50")]
    invoice = en16931.read_invoice(write(documents.ubl(groups, "150.00", "22.50", "172.50")))
    assert invoice.groups == (
        Group(D("19"), D("100.00"), D("19.00"), Tax.CHARGED),
        Group(D("7"), D("50.00"), D("3.50"), Tax.CHARGED),
    )
    assert (invoice.supplier, invoice.buyer, invoice.lines_count) == ("Ferry & Sons", "Larch Trading Ltd", 2)
    assert invoice.date == date(2026, 3, 5)


def test_what_was_paid_before_is_no_rounding(write: Write) -> None:
    content = documents.ubl(
        [("S", "19", "100", "19")], "100", "19", "119", prepaid="20", rounding="0.01", payable="99.01"
    )
    assert en16931.read_invoice(write(content)).rounding == D("0.01")


def test_a_payable_that_holds_other_sums_is_left_out(write: Write) -> None:
    content = documents.ubl([("S", "19", "100", "19")], "100", "19", "119", payable="140")
    with pytest.raises(CannotConvert, match="sums that are no part of the invoice"):
        en16931.read_invoice(write(content))


def test_the_tax_of_a_cii_invoice_is_the_one_in_its_own_currency(write: Write) -> None:
    invoice = en16931.read_invoice(write(documents.cii("40.00", "2.80", "42.80")))
    assert (invoice.tax, invoice.gross, invoice.date) == (D("2.80"), D("42.80"), date(2026, 4, 11))


@pytest.mark.parametrize(
    ("category", "treatment"), [("AE", Tax.REVERSE_CHARGE), ("K", Tax.REVERSE_CHARGE), ("G", Tax.NONE)]
)
def test_the_category_says_who_owes_the_tax(write: Write, category: str, treatment: Tax) -> None:
    invoice = en16931.read_invoice(write(documents.ubl([(category, "0", "80", "0")], "80", "0", "80")))
    assert [group.treatment for group in invoice.groups] == [treatment]


def test_an_unknown_type_code_is_left_out_by_name(write: Write) -> None:
    content = documents.ubl([("S", "19", "100", "19")], "100", "19", "119", code="71")
    with pytest.raises(CannotConvert, match="type code 71 is not known"):
        en16931.read_invoice(write(content))


@pytest.mark.parametrize("content", ["<Invoice", "<!DOCTYPE x><Invoice/>", "<Order/>"])
def test_what_is_not_an_invoice_is_left_out(write: Write, content: str) -> None:
    with pytest.raises(CannotConvert):
        en16931.read_invoice(write(content))


def test_groups_of_one_rate_are_one_and_what_no_group_covers_bears_no_tax(write: Write) -> None:
    vat = documents.category("VAT", "21", "100.00", "21.00")
    more = documents.category("VAT", "21", "10.00", "2.10")
    invoice = _invoice(gobl.read_document(write(documents.gobl([vat, more], "115.00", "23.10", "138.10"))))
    assert invoice.groups == (
        Group(D("21"), D("110.00"), D("23.10"), Tax.CHARGED),
        Group(D("0"), D("5.00"), D("0"), Tax.NONE),
    )


def test_taxes_by_rate_that_are_not_the_stated_tax_are_left_out(write: Write) -> None:
    content = documents.gobl([documents.category("VAT", "21", "100.00", "21.00")], "100.00", "21.10", "121.10")
    with pytest.raises(CannotConvert, match="do not add up"):
        gobl.read_document(write(content))


def test_central_and_state_tax_lie_on_one_base(write: Write) -> None:
    halves = [documents.category(code, "9", "200.00", "18.00") for code in ("CGST", "SGST")]
    invoice = _invoice(gobl.read_document(write(documents.gobl(halves, "200.00", "36.00", "236.00"))))
    assert invoice.groups == (Group(D("18"), D("200.00"), D("36.00"), Tax.CHARGED),)


def test_retained_tax_is_withheld_and_no_rounding(write: Write) -> None:
    taxes = [
        documents.category("VAT", "21", "100.00", "21.00"),
        documents.category("IRPF", "15", "100.00", "15.00", retained=True),
    ]
    content = documents.gobl(taxes, "100.00", "21.00", "121.00", totals={"retained_tax": "15.00", "payable": "106.00"})
    invoice = _invoice(gobl.read_document(write(content)))
    assert (invoice.withheld, invoice.rounding, invoice.gross) == (D("15.00"), D("0"), D("121.00"))


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"type": "credit-note"}, Kind.CREDIT_NOTE),
        ({"$tags": ["self-billed"]}, Kind.SELF_BILLED),
        ({"$tags": ["partial"]}, Kind.ADVANCE),
        ({}, Kind.INVOICE),
    ],
)
def test_type_and_tags_say_what_a_gobl_document_is(write: Write, changes: dict[str, object], kind: Kind) -> None:
    content = documents.gobl([documents.category("VAT", "21", "100", "21")], "100", "21", "121", **changes)
    assert _invoice(gobl.read_document(write(content))).kind is kind


def test_a_surcharge_on_the_tax_is_left_out(write: Write) -> None:
    surcharged = documents.category("VAT", "21", "100", "21", surcharge={"percent": "5.2%", "amount": "5.20"})
    with pytest.raises(CannotConvert, match="surcharge"):
        gobl.read_document(write(documents.gobl([surcharged], "100", "26.20", "126.20")))


def test_an_order_gives_rise_to_no_entry(write: Write) -> None:
    content = documents.gobl([], "1", "0", "1", **{"$schema": "https://gobl.org/draft-0/bill/order"})
    assert gobl.read_document(write(content)) == NoEntry("purchase_order", "G-1", date(2026, 5, 6), "Larch Trading Ltd")


@pytest.mark.parametrize(("content", "reason"), [("{", "it is not JSON"), ('{"doc": {}}', "date of issue")])
def test_broken_json_is_left_out(write: Write, content: str, reason: str) -> None:
    with pytest.raises(CannotConvert, match=reason):
        gobl.read_document(write(content))


def test_an_italian_file_may_hold_two_invoices(write: Write) -> None:
    one = ("<TipoDocumento>TD01</TipoDocumento>", documents.summary("22", "50.00", "11.00"))
    two = ("<TipoDocumento>TD04</TipoDocumento>", documents.summary("10", "30.00", "3.00"))
    first, second = fatturapa.read_invoices(write(documents.fatturapa([one, two])))
    assert (first.number, first.gross, first.kind) == ("1", D("61.00"), Kind.INVOICE)
    assert (second.number, second.gross, second.kind) == ("2", D("33.00"), Kind.CREDIT_NOTE)
    assert first.supplier == "Ada Riva"


@pytest.mark.parametrize("total", ["122.00", "102.00"])
def test_an_italian_total_may_be_before_or_after_withholding(write: Write, total: str) -> None:
    general = (
        "<TipoDocumento>TD06</TipoDocumento><DatiRitenuta><ImportoRitenuta>20.00</ImportoRitenuta></DatiRitenuta>"
        f"<ImportoTotaleDocumento>{total}</ImportoTotaleDocumento>"
    )
    (invoice,) = fatturapa.read_invoices(write(documents.fatturapa([(general, documents.summary("22", "100", "22"))])))
    assert (invoice.gross, invoice.withheld) == (D("122.00"), D("20.00"))


def test_a_mexican_invoice_in_dollars_states_its_rate_and_its_discount(write: Write) -> None:
    attributes = (
        'TipoDeComprobante="I" Moneda="USD" TipoCambio="18.5" Serie="A" Folio="7" SubTotal="120.00" Descuento="20.00" '
        'Total="116.00"'
    )
    body = """<cfdi:Conceptos><cfdi:Concepto><cfdi:Impuestos><cfdi:Traslados><cfdi:Traslado Base="100.00" Impuesto="002"
TasaOCuota="0.160000" Importe="16.00"/></cfdi:Traslados></cfdi:Impuestos></cfdi:Concepto></cfdi:Conceptos>
<cfdi:Impuestos TotalImpuestosTrasladados="16.00"/>"""
    invoice = _invoice(next(cfdi.read_documents(write(documents.cfdi(attributes, body)))))
    assert (invoice.net, invoice.tax, invoice.gross) == (D("100.00"), D("16.00"), D("116.00"))
    assert (invoice.number, invoice.fx, invoice.book_currency) == ("A-7", D("18.5"), "MXN")
    assert [group.rate for group in invoice.groups] == [D("16")]


def test_each_payment_of_a_complement_is_a_receipt(write: Write) -> None:
    body = "".join(
        f'<pago20:Pago FechaPago="2026-06-0{day}T12:00:00" MonedaP="MXN" Monto="{amount}">'
        f'<pago20:DoctoRelacionado ImpPagado="{amount}"/></pago20:Pago>'
        for day, amount in ((1, "372.00"), (2, "10.50"))
    )
    attributes = 'TipoDeComprobante="P" Moneda="XXX" SubTotal="0" Total="0" Folio="9"'
    receipts = list(cfdi.read_documents(write(documents.cfdi(attributes, body))))
    assert receipts == [
        Receipt("9", date(2026, 6, 1), "MXN", "Agave del Norte SA de CV", D("372.00"), 1),
        Receipt("9", date(2026, 6, 2), "MXN", "Agave del Norte SA de CV", D("10.50"), 2),
    ]


def test_a_payment_of_more_than_it_settles_is_left_out(write: Write) -> None:
    item = '<pago20:DoctoRelacionado ImpPagado="19"/>'
    body = f'<pago20:Pago FechaPago="2026-06-01" MonedaP="MXN" Monto="20">{item}</pago20:Pago>'
    attributes = 'TipoDeComprobante="P" Moneda="XXX" SubTotal="0" Total="0"'
    with pytest.raises(CannotConvert, match="more or less than it settles"):
        list(cfdi.read_documents(write(documents.cfdi(attributes, body))))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3))
def test_every_decimal_is_read_as_it_is_written(value: Decimal) -> None:
    assert decimal(f" {value} ", "it") == value


@given(st.text())
def test_a_text_is_a_finite_decimal_or_left_out(written: str) -> None:
    try:
        assert decimal(written, "it").is_finite()
    except CannotConvert as reason:
        assert str(reason) == "it is not a number"
