"""Invoices of the European standard EN 16931 in its two syntaxes, UBL 2.1 and UN/CEFACT CII.

Type codes are those of UNTDID 1001, tax categories those of UNTDID 5305.
"""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from scripts.packs.stated import NIL, CannotConvert, Group, Invoice, Kind, Tax, day, decimal, merged, with_untaxed_rest
from scripts.packs.xml_text import find_all, local_name, read_xml, text

KIND_OF_CODE: Final[Mapping[str, Kind]] = {
    "204": Kind.PROGRESS,
    "326": Kind.INVOICE,
    "380": Kind.INVOICE,
    "381": Kind.CREDIT_NOTE,
    "383": Kind.DEBIT_NOTE,
    "384": Kind.CORRECTION,
    "387": Kind.RENT,
    "389": Kind.SELF_BILLED,
    "575": Kind.INSURANCE,
    "877": Kind.INVOICE,
}
_RECIPIENT_PAYS: Final = frozenset({"AE", "K"})
_SETTLEMENT: Final = "SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement"
_AGREEMENT: Final = "SupplyChainTradeTransaction/ApplicableHeaderTradeAgreement"
_SUMS: Final = f"{_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation"


def read_invoice(file: Path) -> Invoice:
    """The invoice in ``file``. Raises CannotConvert."""
    root = read_xml(file)
    match local_name(root):
        case "Invoice" | "CreditNote":
            return _ubl(root)
        case "CrossIndustryInvoice":
            return _cii(root)
        case name:
            raise CannotConvert(f"{name} is no invoice of EN 16931")


def kind_of(code: str | None) -> Kind:
    """The kind of a type code. Raises CannotConvert for one that is not known."""
    kind = KIND_OF_CODE.get(code or "")
    if kind is None:
        raise CannotConvert(f"type code {code} is not known")
    return kind


def treatment_of(category: str | None, rate: Decimal) -> Tax:
    """Who owes the tax of a category."""
    if category in _RECIPIENT_PAYS:
        return Tax.REVERSE_CHARGE
    return Tax.CHARGED if rate else Tax.NONE


def group(category: str | None, rate: str | None, taxable: str | None, tax: str | None) -> Group:
    """One group of the tax breakdown, from its texts."""
    percent = decimal(rate or "0", "a tax rate")
    return Group(
        percent, decimal(taxable, "a taxable amount"), decimal(tax, "a tax amount"), treatment_of(category, percent)
    )


def checked_rounding(gross: Decimal, prepaid: str | None, rounding: str | None, payable: str | None) -> Decimal:
    """The rounding of the amount payable. Raises CannotConvert when the payable follows from nothing stated."""
    rounded = decimal(rounding or "0", "the rounding amount")
    if decimal(payable, "the amount payable") != gross - decimal(prepaid or "0", "the prepaid amount") + rounded:
        raise CannotConvert("the amount payable holds sums that are no part of the invoice")
    return rounded


def _ubl(root: Element) -> Invoice:
    currency = text(root, "DocumentCurrencyCode") or ""
    totals = [item for item in find_all(root, "TaxTotal") if find_all(item, "TaxSubtotal")]
    groups = merged(
        group(
            text(part, "TaxCategory/ID"),
            text(part, "TaxCategory/Percent"),
            text(part, "TaxableAmount"),
            text(part, "TaxAmount"),
        )
        for total in totals
        for part in find_all(total, "TaxSubtotal")
    )
    tax = sum((decimal(text(total, "TaxAmount"), "the tax total") for total in totals), NIL)
    sums = "LegalMonetaryTotal"
    net = decimal(text(root, f"{sums}/TaxExclusiveAmount"), "the net total")
    gross = decimal(text(root, f"{sums}/TaxInclusiveAmount"), "the gross total")
    names = [f"Party/{name}" for name in ("PartyLegalEntity/RegistrationName", "PartyName/Name")]
    supplier = [f"AccountingSupplierParty/{name}" for name in names]
    buyer = [f"AccountingCustomerParty/{name}" for name in names]
    code = text(root, "InvoiceTypeCode", "CreditNoteTypeCode")
    return Invoice(
        kind=kind_of(code or ("381" if local_name(root) == "CreditNote" else None)),
        number=text(root, "ID"),
        date=day(text(root, "IssueDate"), "the date of issue"),
        currency=currency,
        supplier=text(root, *supplier) or "Supplier",
        supplier_tax_number=text(root, "AccountingSupplierParty/Party/PartyTaxScheme/CompanyID"),
        buyer=text(root, *buyer) or "Buyer",
        buyer_country=text(root, "AccountingCustomerParty/Party/PostalAddress/Country/IdentificationCode"),
        groups=with_untaxed_rest(groups, net, tax),
        net=net,
        tax=tax,
        gross=gross,
        rounding=checked_rounding(
            gross,
            text(root, f"{sums}/PrepaidAmount"),
            text(root, f"{sums}/PayableRoundingAmount"),
            text(root, f"{sums}/PayableAmount"),
        ),
        lines_count=max(1, len(find_all(root, "InvoiceLine")) + len(find_all(root, "CreditNoteLine"))),
    )


def _cii(root: Element) -> Invoice:
    currency = text(root, f"{_SETTLEMENT}/InvoiceCurrencyCode") or ""
    groups = merged(
        group(
            text(part, "CategoryCode"),
            text(part, "RateApplicablePercent", "ApplicablePercent"),
            text(part, "BasisAmount"),
            text(part, "CalculatedAmount"),
        )
        for part in find_all(root, f"{_SETTLEMENT}/ApplicableTradeTax")
    )
    stated = [item for item in find_all(root, f"{_SUMS}/TaxTotalAmount") if item.get("currencyID") in (None, currency)]
    tax = decimal(stated[0].text if stated else "0", "the tax total")
    net = decimal(text(root, f"{_SUMS}/TaxBasisTotalAmount"), "the net total")
    gross = decimal(text(root, f"{_SUMS}/GrandTotalAmount"), "the gross total")
    return Invoice(
        kind=kind_of(text(root, "ExchangedDocument/TypeCode")),
        number=text(root, "ExchangedDocument/ID"),
        date=day(text(root, "ExchangedDocument/IssueDateTime/DateTimeString"), "the date of issue"),
        currency=currency,
        supplier=text(root, f"{_AGREEMENT}/SellerTradeParty/Name") or "Supplier",
        supplier_tax_number=text(root, f"{_AGREEMENT}/SellerTradeParty/SpecifiedTaxRegistration/ID"),
        buyer=text(root, f"{_AGREEMENT}/BuyerTradeParty/Name") or "Buyer",
        buyer_country=text(root, f"{_AGREEMENT}/BuyerTradeParty/PostalTradeAddress/CountryID"),
        groups=with_untaxed_rest(groups, net, tax),
        net=net,
        tax=tax,
        gross=gross,
        rounding=checked_rounding(
            gross,
            text(root, f"{_SUMS}/TotalPrepaidAmount"),
            text(root, f"{_SUMS}/RoundingAmount"),
            text(root, f"{_SUMS}/DuePayableAmount"),
        ),
        lines_count=max(1, len(find_all(root, "SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem"))),
    )
