"""Tiny documents of our own, one builder a format, with good defaults."""

import json
from typing import Any

UBL = "urn:oasis:names:specification:ubl:schema:xsd"


def ubl(
    groups: list[tuple[str, str, str, str]],
    net: str,
    tax: str,
    gross: str,
    *,
    code: str = "380",
    currency: str = "EUR",
    prepaid: str = "0",
    rounding: str = "0",
    payable: str | None = None,
    country: str = "DE",
) -> str:
    """A UBL invoice; ``groups`` are (category, percent, taxable, tax)."""
    parts = "".join(
        f"<TaxSubtotal><TaxableAmount>{taxable}</TaxableAmount><TaxAmount>{amount}</TaxAmount>"
        f"<TaxCategory><ID>{category}</ID><Percent>{percent}</Percent></TaxCategory></TaxSubtotal>"
        for category, percent, taxable, amount in groups
    )
    return f"""<Invoice xmlns="{UBL}:Invoice-2"><ID>U-1</ID><IssueDate>2026-03-05</IssueDate>
<InvoiceTypeCode>{code}</InvoiceTypeCode><DocumentCurrencyCode>{currency}</DocumentCurrencyCode>
<AccountingSupplierParty><Party><PartyName><Name>Ferry &amp; Sons</Name></PartyName></Party></AccountingSupplierParty>
<AccountingCustomerParty><Party><PartyName><Name>Larch Trading Ltd</Name></PartyName><PostalAddress><Country>
<IdentificationCode>{country}</IdentificationCode></Country></PostalAddress></Party></AccountingCustomerParty>
<TaxTotal><TaxAmount>{tax}</TaxAmount>{parts}</TaxTotal>
<LegalMonetaryTotal><TaxExclusiveAmount>{net}</TaxExclusiveAmount><TaxInclusiveAmount>{gross}</TaxInclusiveAmount>
<PrepaidAmount>{prepaid}</PrepaidAmount><PayableRoundingAmount>{rounding}</PayableRoundingAmount>
<PayableAmount>{payable or gross}</PayableAmount></LegalMonetaryTotal><InvoiceLine/><InvoiceLine/></Invoice>"""


def cii(net: str, tax: str, gross: str, *, rate: str = "7") -> str:
    """A CII invoice at one rate that states its tax in euros and, for information, in kroner."""
    return f"""<CrossIndustryInvoice xmlns="urn:cii"><ExchangedDocument><ID>C-1</ID><TypeCode>380</TypeCode>
<IssueDateTime><DateTimeString format="102">20260411</DateTimeString></IssueDateTime></ExchangedDocument>
<SupplyChainTradeTransaction><IncludedSupplyChainTradeLineItem/>
<ApplicableHeaderTradeAgreement><SellerTradeParty><Name>Ferry Ltd</Name></SellerTradeParty>
<BuyerTradeParty><Name>Larch Trading Ltd</Name></BuyerTradeParty></ApplicableHeaderTradeAgreement>
<ApplicableHeaderTradeSettlement><InvoiceCurrencyCode>EUR</InvoiceCurrencyCode>
<ApplicableTradeTax><CalculatedAmount>{tax}</CalculatedAmount><BasisAmount>{net}</BasisAmount>
<CategoryCode>S</CategoryCode><RateApplicablePercent>{rate}</RateApplicablePercent></ApplicableTradeTax>
<SpecifiedTradeSettlementHeaderMonetarySummation><TaxBasisTotalAmount>{net}</TaxBasisTotalAmount>
<TaxTotalAmount currencyID="NOK">99.99</TaxTotalAmount><TaxTotalAmount currencyID="EUR">{tax}</TaxTotalAmount>
<GrandTotalAmount>{gross}</GrandTotalAmount><DuePayableAmount>{gross}</DuePayableAmount>
</SpecifiedTradeSettlementHeaderMonetarySummation></ApplicableHeaderTradeSettlement>
</SupplyChainTradeTransaction></CrossIndustryInvoice>"""


def gobl(categories: list[dict[str, Any]], total: str, tax: str, gross: str, **changes: Any) -> str:
    """A GOBL invoice; ``changes`` are keys of the document ("$tags", "type") or, under "totals", further totals."""
    totals = {
        "total": total,
        "tax": tax,
        "total_with_tax": gross,
        "payable": gross,
        "taxes": {"categories": categories},
    }
    document = {
        "$schema": "https://gobl.org/draft-0/bill/invoice",
        "type": "standard",
        "code": "G-1",
        "issue_date": "2026-05-06",
        "currency": "EUR",
        "supplier": {"name": "Ferry Ltd", "tax_id": {"country": "ES", "code": "B1"}},
        "customer": {"name": "Larch Trading Ltd", "tax_id": {"country": "DE", "code": "1"}},
        "lines": [{}, {}],
        **changes,
    }
    document["totals"] = totals | changes.get("totals", {})
    return json.dumps({"doc": document})


def category(code: str, percent: str, base: str, amount: str, **changes: Any) -> dict[str, Any]:
    """One tax category with one rate; ``changes`` are keys of the rate, ``retained`` one of the category."""
    retained = {"retained": True} if changes.pop("retained", False) else {}
    return {"code": code, **retained, "rates": [{"base": base, "percent": f"{percent}%", "amount": amount, **changes}]}


def fatturapa(bodies: list[tuple[str, str]]) -> str:
    """An Italian file with one invoice for each of ``bodies``: the general part and the summary, as XML."""
    written = "".join(
        "<FatturaElettronicaBody><DatiGenerali><DatiGeneraliDocumento><Divisa>EUR</Divisa><Data>2026-01-20</Data>"
        f"<Numero>{number}</Numero>{general}</DatiGeneraliDocumento></DatiGenerali>"
        f"<DatiBeniServizi><DettaglioLinee/>{summary}</DatiBeniServizi></FatturaElettronicaBody>"
        for number, (general, summary) in enumerate(bodies, 1)
    )
    return f"""<p:FatturaElettronica xmlns:p="urn:it"><FatturaElettronicaHeader>
<CedentePrestatore><DatiAnagrafici><Anagrafica><Nome>Ada</Nome><Cognome>Riva</Cognome></Anagrafica></DatiAnagrafici>
</CedentePrestatore><CessionarioCommittente><DatiAnagrafici><Anagrafica><Denominazione>Orla Studios Srl</Denominazione>
</Anagrafica></DatiAnagrafici><Sede><Nazione>IT</Nazione></Sede></CessionarioCommittente></FatturaElettronicaHeader>
{written}</p:FatturaElettronica>"""


def summary(rate: str, taxable: str, tax: str) -> str:
    """One rate of an Italian invoice's summary."""
    return (
        f"<DatiRiepilogo><AliquotaIVA>{rate}</AliquotaIVA><ImponibileImporto>{taxable}</ImponibileImporto>"
        f"<Imposta>{tax}</Imposta></DatiRiepilogo>"
    )


def cfdi(attributes: str, body: str) -> str:
    """A Mexican document of version 4.0."""
    return f"""<cfdi:Comprobante xmlns:cfdi="urn:cfd4" xmlns:pago20="urn:pagos"
Version="4.0" Fecha="2026-06-18T10:00:00"
{attributes}><cfdi:Emisor Nombre="Agave del Norte SA de CV" Rfc="AAA"/><cfdi:Receptor Nombre="Hotel"/>{body}
</cfdi:Comprobante>"""
