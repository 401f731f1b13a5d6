"""Mexican fiscal documents: CFDI 3.2, 3.3 and 4.0 with the payment complement, and withholding certificates.

3.2 writes its attributes with a small first letter ("subTotal"), later versions with a capital one.
"""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from scripts.packs.stated import (
    NIL,
    CannotConvert,
    Group,
    Invoice,
    Kind,
    Receipt,
    Stated,
    Tax,
    WithholdingCertificate,
    day,
    decimal,
    merged,
    with_untaxed_rest,
)
from scripts.packs.xml_text import find, find_all, local_name, read_xml, text

PESO: Final = "MXN"
_PESO_IN_WORDS: Final = frozenset({"PESOS", "PESO MEXICANO", "MN", "M.N.", PESO})
_KINDS: Final = {"I": Kind.INVOICE, "ingreso": Kind.INVOICE, "E": Kind.CREDIT_NOTE, "egreso": Kind.CREDIT_NOTE}
_VALUE_ADDED_TAX: Final = frozenset({"002", "IVA"})


def read_documents(file: Path) -> Iterator[Stated]:
    """What ``file`` states: an invoice, one receipt for each payment, or a certificate. Raises CannotConvert."""
    root = read_xml(file)
    match local_name(root):
        case "Comprobante" if _attribute(root, "TipoDeComprobante") == "P":
            yield from _receipts(root)
        case "Comprobante":
            yield _invoice(root)
        case "Retenciones":
            yield _certificate(root)
        case name:
            raise CannotConvert(f"{name} holds books kept in another chart of accounts")


def _attribute(element: Element, name: str) -> str | None:
    return element.get(name, element.get(name[0].lower() + name[1:]))


def _invoice(root: Element) -> Invoice:
    kind = _KINDS.get(_attribute(root, "TipoDeComprobante") or "")
    if kind is None:
        raise CannotConvert(f"a document of type {_attribute(root, 'TipoDeComprobante')} is not known")
    subtotal = decimal(_attribute(root, "SubTotal"), "the subtotal")
    net = subtotal - decimal(_attribute(root, "Descuento") or "0", "the discount")
    taxes = find(root, "Impuestos")
    tax, withheld = NIL, NIL
    if taxes is not None:
        tax = decimal(_attribute(taxes, "TotalImpuestosTrasladados") or "0", "the tax total")
        withheld = decimal(_attribute(taxes, "TotalImpuestosRetenidos") or "0", "the tax withheld")
    currency = _currency(_attribute(root, "Moneda"))
    rate = _attribute(root, "TipoCambio")
    return Invoice(
        kind=kind,
        number="-".join(part for part in (_attribute(root, "Serie"), _attribute(root, "Folio")) if part) or None,
        date=day(_attribute(root, "Fecha"), "the date of issue"),
        currency=currency,
        supplier=_name(root, "Emisor") or "Supplier",
        supplier_tax_number=_of_party(root, "Emisor", "Rfc"),
        buyer=_name(root, "Receptor") or "Buyer",
        buyer_country="MX",
        groups=with_untaxed_rest(merged(_groups(root, net)), net, tax),
        net=net,
        tax=tax,
        gross=decimal(_attribute(root, "Total"), "the total") + withheld,
        withheld=withheld,
        lines_count=max(1, len(find_all(root, "Conceptos/Concepto"))),
        fx=decimal(rate, "the exchange rate") if rate and currency != PESO else None,
        book_currency=PESO,
    )


def _currency(stated: str | None) -> str:
    written = (stated or PESO).strip()
    return PESO if written.upper() in _PESO_IN_WORDS else written


def _groups(root: Element, net: Decimal) -> Iterator[Group]:
    """The taxes of the lines; of version 3.2, which has none there, those of the document when it has one rate."""
    lines = find_all(root, "Conceptos/Concepto/Impuestos/Traslados/Traslado")
    whole = find_all(root, "Impuestos/Traslados/Traslado")
    if not lines and len(whole) > 1:
        raise CannotConvert("it has several rates and does not say what they lie on")
    for item in lines or whole:
        if item.get("Impuesto", item.get("impuesto")) not in _VALUE_ADDED_TAX:
            raise CannotConvert("it bears a tax other than value added tax")
        taxable = item.get("Base") or str(net)
        percent = item.get("TasaOCuota")
        rate = decimal(percent, "a tax rate") * 100 if percent else decimal(item.get("tasa") or "0", "a tax rate")
        tax = decimal(_attribute(item, "Importe") or "0", "a tax amount")
        yield Group(rate.normalize(), decimal(taxable, "a taxable amount"), tax, Tax.CHARGED if rate else Tax.NONE)


def _name(root: Element, role: str) -> str | None:
    return _of_party(root, role, "Nombre")


def _of_party(root: Element, role: str, attribute: str) -> str | None:
    party = find(root, role)
    return None if party is None else _attribute(party, attribute)


def _receipts(root: Element) -> Iterator[Receipt]:
    number = "-".join(part for part in (root.get("Serie"), root.get("Folio")) if part) or None
    payments = [item for item in root.iter() if local_name(item) == "Pago"]
    for position, payment in enumerate(payments, 1):
        if payment.get("MonedaP") != PESO:
            raise CannotConvert("it pays items of another currency")
        amount = decimal(payment.get("Monto"), "the amount paid")
        items = find_all(payment, "DoctoRelacionado")
        applied = sum((decimal(item.get("ImpPagado") or str(amount), "an amount applied") for item in items), NIL)
        if applied != amount:
            raise CannotConvert("it pays more or less than it settles")
        date = day(payment.get("FechaPago"), "the day of payment")
        yield Receipt(number, date, PESO, _name(root, "Emisor") or "Recipient", amount, position)


def _certificate(root: Element) -> WithholdingCertificate:
    totals = find(root, "Totales")
    if totals is None:
        raise CannotConvert("it states no totals")
    stated = {key.lower(): value for key, value in totals.attrib.items()}
    attributes = {key.lower(): value for key, value in root.attrib.items()}
    payer = find(root, "Emisor")
    names = {} if payer is None else {key.lower(): value for key, value in payer.attrib.items()}
    return WithholdingCertificate(
        number=attributes.get("folioint"),
        date=day(attributes.get("fechaexp"), "the date of issue"),
        currency=PESO,
        payer=names.get("nomdenrazsoce") or "Payer",
        payee=text(root, "Receptor/Nacional") or "Payee",
        withheld=decimal(stated.get("montototret"), "the tax withheld"),
    )
