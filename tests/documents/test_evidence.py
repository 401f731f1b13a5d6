"""What a document says about how it writes."""

import pytest

from bookkeeping.documents import evidence_of

MARKS = [
    ("subtotal 1,234.50 tax 98.76", "."),
    ("Summe 1.234,50 MwSt 98,76", ","),
    ("items 5 6 7", None),
    ("paid -12.80 and -200,00", None),
    ("1.234 and 2.345 and 12,50", ","),
    ("§ 1.1 and § 1.2 apply; 12,50 13,50 14,50 15,50 16,50 17,50 18,50", ","),
    ("issued 12.07.2022 at 14:31, total 12,50", ","),
    ("price 0,021385479", ","),
    ("3.350 x 2 = 6.70", "."),
    ("am 02.07.2025 geladen, gesamt 1.860 kg", ","),
    ("am 02.07.2025 geladen, 12'500 kg, gesamt 1.860 t", None),
    ("Steuernummer ATU12345678, gesamt 1.860 kg", ","),
    ("VAT GB123456789, weight 1.860 kg", "."),
]


@pytest.mark.parametrize(("document", "mark"), MARKS)
def test_the_clear_numbers_show_the_decimal_mark(document, mark):
    assert evidence_of(document).decimal_mark == mark


def test_two_documents_of_one_issuer_are_read_each_by_its_own_evidence():
    from bookkeeping.documents import read_number

    first, second = evidence_of("1.234,50 und 1.234"), evidence_of("1,234.50 and 1,234")
    assert read_number("1.234", first.numbers()) == 1234
    assert read_number("1,234", second.numbers()) == 1234


def test_a_statement_in_mt940_has_commas_and_compact_dates():
    evidence = evidence_of(":20:START\n:60F:C160430EUR1000,00\n:61:1604300502DR100,00NTRF")
    assert evidence.decimal_mark == ","
    assert evidence.dates.is_compact


def test_tax_numbers_say_the_country_before_the_currency_does():
    assert evidence_of("VAT IE1234567 total 10.00 USD").territories == {"IE"}
    assert "US" in evidence_of("total 10.00 USD").territories


def test_the_number_of_a_document_names_no_country():
    assert evidence_of("Invoice IN12345678, credit note CN20250338, RE20250338").territories == frozenset()
