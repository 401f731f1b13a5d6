"""Currencies by code, sign and name."""

import pytest

from bookkeeping.documents import Unread, evidence_of, read_currency

CLEAR = [
    ("EUR", "EUR"),
    ("eur", "EUR"),
    ("€", "EUR"),
    ("RM", "MYR"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("R$", "BRL"),
    ("Euro", "EUR"),
    ("US dollars", "USD"),
    ("Schweizer Franken", "CHF"),
    ("alle Beträge in CHF", "CHF"),
    ("円", "JPY"),
    ("د.ك", "KWD"),
]


@pytest.mark.parametrize(("written", "code"), CLEAR)
def test_what_is_written_is_this_currency(written, code):
    assert read_currency(written) == code


@pytest.mark.parametrize(("written", "code"), [("$", "USD"), ("£", "GBP"), ("¥", "JPY")])
def test_a_shared_sign_is_the_usual_currency(written, code):
    assert read_currency(written) == code


@pytest.mark.parametrize("written", ["kr", "Rs."])
def test_a_sign_of_several_countries_is_ambiguous(written):
    assert read_currency(written) == Unread("ambiguous_currency", written)


def test_a_shared_sign_is_the_currency_that_the_document_mentions():
    assert read_currency("kr", evidence_of("Att betala 1 250,00 kr (SEK)").mentioned) == "SEK"
    assert read_currency("$", evidence_of("All amounts in CAD. Total $10.00 CAD").mentioned) == "CAD"


@pytest.mark.parametrize("written", ["", "cash", "12.50"])
def test_what_names_no_currency_is_none(written):
    assert read_currency(written) == Unread("no_currency", written)


def test_a_word_in_capitals_is_no_currency():
    assert evidence_of("PEN BLUE 5 x 1.24   FOR ALL GUESTS   R-20981").mentioned == frozenset()
    assert evidence_of("TOTAL PEN 12.00").mentioned == {"PEN"}
