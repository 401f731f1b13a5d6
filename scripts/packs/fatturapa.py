"""Italian electronic invoices (FatturaPA 1.2); one file may hold several."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from scripts.packs.stated import (
    NIL,
    CannotConvert,
    Group,
    Invoice,
    Kind,
    Tax,
    day,
    decimal,
    merged,
)
from scripts.packs.xml_text import find, find_all, local_name, read_xml, text

_KINDS: Final = {
    "TD01": Kind.INVOICE,
    "TD04": Kind.CREDIT_NOTE,
    "TD05": Kind.DEBIT_NOTE,
    "TD06": Kind.INVOICE,
    "TD24": Kind.INVOICE,
    "TD25": Kind.INVOICE,
}
_GENERAL: Final = "DatiGenerali/DatiGeneraliDocumento"


def read_invoices(file: Path) -> Iterator[Invoice]:
    """The invoices in ``file``, in its order. Raises CannotConvert."""
    root = read_xml(file)
    if local_name(root) != "FatturaElettronica":
        raise CannotConvert(f"{local_name(root)} is no Italian invoice")
    header = find(root, "FatturaElettronicaHeader")
    if header is None:
        raise CannotConvert("it has no header")
    for body in find_all(root, "FatturaElettronicaBody"):
        yield _invoice(header, body)


def _invoice(header: Element, body: Element) -> Invoice:
    code = text(body, f"{_GENERAL}/TipoDocumento")
    if code not in _KINDS:
        raise CannotConvert(f"document type {code} is not known")
    groups = merged(_group(part) for part in find_all(body, "DatiBeniServizi/DatiRiepilogo"))
    net, tax = sum((group.taxable for group in groups), NIL), sum((group.tax for group in groups), NIL)
    withheld = sum(
        (decimal(text(part, "ImportoRitenuta"), "tax withheld") for part in find_all(body, f"{_GENERAL}/DatiRitenuta")),
        NIL,
    )
    total = decimal(text(body, f"{_GENERAL}/ImportoTotaleDocumento") or str(net + tax), "the document total")
    is_after_withholding = bool(withheld) and total == net + tax - withheld
    supplier, buyer = "CedentePrestatore", "CessionarioCommittente"
    return Invoice(
        kind=_KINDS[code],
        number=text(body, f"{_GENERAL}/Numero"),
        date=day(text(body, f"{_GENERAL}/Data"), "the date of issue"),
        currency=text(body, f"{_GENERAL}/Divisa") or "EUR",
        supplier=_name(header, supplier) or "Supplier",
        supplier_tax_number=text(header, f"{supplier}/DatiAnagrafici/IdFiscaleIVA/IdCodice"),
        buyer=_name(header, buyer) or "Buyer",
        buyer_country=text(header, f"{buyer}/Sede/Nazione"),
        groups=groups,
        net=net,
        tax=tax,
        gross=total + withheld if is_after_withholding else total,
        withheld=withheld,
        lines_count=max(1, len(find_all(body, "DatiBeniServizi/DettaglioLinee"))),
    )


def _group(part: Element) -> Group:
    rate = decimal(text(part, "AliquotaIVA"), "a tax rate")
    reverse = (text(part, "Natura") or "").startswith("N6")
    treatment = Tax.REVERSE_CHARGE if reverse else Tax.CHARGED if rate else Tax.NONE
    taxable, tax = text(part, "ImponibileImporto"), text(part, "Imposta")
    return Group(rate, decimal(taxable, "a taxable amount"), decimal(tax, "a tax amount"), treatment)


def _name(header: Element, role: str) -> str | None:
    who = f"{role}/DatiAnagrafici/Anagrafica"
    person = " ".join(part for part in (text(header, f"{who}/Nome"), text(header, f"{who}/Cognome")) if part)
    return text(header, f"{who}/Denominazione") or person or None
