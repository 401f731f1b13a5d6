"""Numbers as documents write them. Right values by hand, most of them from faults that were reported to others."""

from decimal import Decimal

import pytest
from babel import Locale, localedata
from babel.numbers import format_currency, format_decimal
from hypothesis import given, settings
from hypothesis import strategies as st

from bookkeeping.documents import NumberHabits, Unread, read_number

WRITTEN = [
    ("-$100,000.00", "-100000.00"),
    ("R$ -2,00", "-2.00"),
    ("AMOUNT DUE: -$1,716.96", "-1716.96"),
    ("1,234,567.890", "1234567.890"),
    ("3.350 × 2 = 6.70", "3.350"),
    ("CHF 1’234.56", "1234.56"),
    ("1'000.00 CHF", "1000.00"),
    ("1'250.40", "1250.40"),
    ("3 issues for only 14,85 EUR", "14.85"),
    (",89 €", "0.89"),
    ("3,400.60", "3400.60"),
    ("12 345,12", "12345.12"),
    ("12\u00a0345,12", "12345.12"),
    ("12\u202f345,12", "12345.12"),
    ("₹12,34,567.00", "1234567.00"),
    ("1,23,456.78", "123456.78"),
    ("₦25,000", "25000"),
    ("(123.45)", "-123.45"),
    ("($30.00)", "-30.00"),
    ("$(12.34)", "-12.34"),
    ("1,234.56-", "-1234.56"),
    ("100,00 -", "-100.00"),
    ("5,00 €-", "-5.00"),
    ("−100,00", "-100.00"),
    ("123.45 CR", "-123.45"),
    ("123.45 DR", "123.45"),
    ("0,021385479", "0.021385479"),
    ("31.422", "31.422"),
    ("-14.9", "-14.9"),
    ("<TRNAMT>750", "750"),
    ("-12.80", "-12.80"),
    ("-200,00", "-200.00"),
    ("¥1,935", "1935"),
    ("KWD 18.600", "18.600"),
    ("1.234,56", "1234.56"),
    ("1.234.567", "1234567"),
    ("１，２３４．５０", "1234.50"),
    ("١٬٢٣٤٫٥٠", "1234.50"),
    ("१,२३,४५६.७८", "123456.78"),
    ("15,-", "15"),
    ("15.–", "15"),
    ("20$00", "20.00"),
    ("19 %", "19"),
    ("EUR 1.234", "1234"),
    ("1,000 د.ك.", "1.000"),
    ("Fr. 12.50", "12.50"),
    ("12,50²", "12.50"),
]


@pytest.mark.parametrize(("written", "value"), WRITTEN)
def test_what_is_written_is_this_number(written, value):
    assert str(read_number(written)) == value


@pytest.mark.parametrize(
    "written", ["11,11.11", "10.999.99 €", "1,2345,678.00", "1.23.456,00", "1,234.56.78", "1'23.00"]
)
def test_groups_that_are_none_are_refused(written):
    assert read_number(written) == Unread("malformed_number", written)


@pytest.mark.parametrize("written", ["", "n/a", "see overleaf", "-", "€"])
def test_where_no_number_is_none_is_read(written):
    assert read_number(written) == Unread("no_number", written)


ON_AN_ACCOUNT = [
    ("1,234.56 DR", "-1234.56"),
    ("1,234.56 CR", "1234.56"),
    ("1.337,00 H", "1337.00"),
    ("13,37 S", "-13.37"),
    ("C19053,79", "19053.79"),
    ("DR100,00", "-100.00"),
    ("RC5,00", "-5.00"),
    ("RD5,00", "5.00"),
    ("12.00 DBIT", "-12.00"),
    ("C160430EUR1000,00", "1000.00"),
    ("D160430EUR1000,00", "-1000.00"),
    ("12.00", "12.00"),
    ("-12.00", "-12.00"),
]


@pytest.mark.parametrize(("written", "value"), ON_AN_ACCOUNT)
def test_on_an_account_a_mark_says_whether_money_came_or_went(written, value):
    assert str(read_number(written, NumberHabits(is_account=True))) == value


@pytest.mark.parametrize(("mark", "value"), [(",", "1234"), (".", "1.234"), (None, "1.234")])
def test_the_documents_own_mark_decides_what_can_be_read_both_ways(mark, value):
    assert read_number("1.234", NumberHabits(decimal_mark=mark)) == Decimal(value)


@pytest.mark.parametrize(("digits", "value"), [(0, "1234"), (2, "1234"), (3, "1.234"), (None, "1234")])
def test_else_the_decimals_of_the_currency_do(digits, value):
    assert read_number("1,234", NumberHabits(minor_digits=digits)) == Decimal(value)


def test_a_clear_number_is_read_as_it_is_whatever_the_rest_of_the_document_does():
    assert read_number("12.50", NumberHabits(decimal_mark=",")) == Decimal("12.50")


LOCALES = sorted(name for name in localedata.locale_identifiers() if not name.startswith("tok"))
"""All of CLDR but Toki Pona: no paper has its groups of two digits, and groups that are none are refused."""
MONEY = st.decimals(min_value="-9999999.99", max_value="9999999.99", places=2)


@settings(max_examples=400, deadline=None)
@given(locale=st.sampled_from(LOCALES), value=MONEY)
def test_a_number_in_the_format_of_any_locale_is_read_back(locale, value):
    written = format_decimal(value, format=_two_decimals(locale), locale=locale)
    assert read_number(written) == value, written


@settings(max_examples=400, deadline=None)
@given(
    locale=st.sampled_from(LOCALES), value=MONEY, currency=st.sampled_from(["EUR", "USD", "JPY", "KWD", "INR", "CHF"])
)
def test_an_amount_with_its_currency_in_the_format_of_any_locale_is_read_back(locale, value, currency):
    rounded = value.quantize(Decimal(1)) if currency == "JPY" else value
    written = format_currency(rounded, currency, locale=locale)
    assert read_number(written) == rounded, written


@settings(max_examples=300, deadline=None)
@given(locale=st.sampled_from(LOCALES), value=st.integers(1000, 99_999_999))
def test_a_whole_number_in_the_format_of_any_locale_is_read_back_with_the_documents_mark(locale, value):
    decimal = read_mark(locale)
    written = format_decimal(value, locale=locale)
    assert read_number(written, NumberHabits(decimal_mark=decimal)) == value, written


@given(st.text(max_size=40))
def test_no_text_raises(written):
    assert isinstance(read_number(written), Decimal | Unread)


def _two_decimals(locale):
    pattern = Locale.parse(locale).decimal_formats[None].pattern
    return pattern.split(";")[0].replace(".###", ".00")


def read_mark(locale):
    one_half = format_decimal(Decimal("0.5"), locale=locale)
    return "," if "," in one_half else "."
