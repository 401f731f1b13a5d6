"""Dates as documents write them, and what makes an ambiguous one clear."""

from datetime import date

import pytest
from babel import Locale
from babel.dates import format_date
from hypothesis import given, settings
from hypothesis import strategies as st

from bookkeeping.documents import DateHabits, Unread, evidence_of, read_date
from bookkeeping.documents.dates import booking_date
from bookkeeping.documents.languages import languages

CLEAR = [
    ("2023-11-08", "2023-11-08"),
    ("12.07.2022", "2022-07-12"),
    ("13.07.2022", "2022-07-13"),
    ("24/4/2019", "2019-04-24"),
    ("4/24/2019", "2019-04-24"),
    ("05/05/2020", "2020-05-05"),
    ("31. 12. 2025", "2025-12-31"),
    ("12.7.22", "2022-07-12"),
    ("July 12, 2022", "2022-07-12"),
    ("12 July 2022", "2022-07-12"),
    ("1st of March 2024", "2024-03-01"),
    ("12-JUL-22", "2022-07-12"),
    ("Sept. 4, 2024", "2024-09-04"),
    ("1er juillet 2022", "2022-07-01"),
    ("12 de julio de 2022", "2022-07-12"),
    ("3 de março de 2021", "2021-03-03"),
    ("12. Juli 2022", "2022-07-12"),
    ("2024. december 5.", "2024-12-05"),
    ("2022年7月12日", "2022-07-12"),
    ("令和4年7月12日", "2022-07-12"),
    ("令和元年5月1日", "2019-05-01"),
    ("12 ม.ค. 2565", "2022-01-12"),
    ("17 thg 1, 2024", "2024-01-17"),
    ("2024년 1월 17일", "2024-01-17"),
    ("٢٠٢٤-٠٣-٠١", "2024-03-01"),
    ("Inv 17 12.07.2022", "2022-07-12"),
    ("17 issued 12. Juli 2022", "2022-07-12"),
    ("12 07 2022", "2022-07-12"),
    ("20221108", "2022-11-08"),
    ("2018-02-12T14:31:00Z", "2018-02-12"),
    ("Datum: 12.02.2018 14:31 Uhr", "2018-02-12"),
]


@pytest.mark.parametrize(("written", "day"), CLEAR)
def test_what_is_written_is_this_day(written, day):
    assert read_date(written) == date.fromisoformat(day)


@pytest.mark.parametrize("written", ["2/5/2019", "12/02/2018", "03-04-2021", "1/2/03"])
def test_a_date_that_can_be_read_both_ways_is_ambiguous(written):
    assert read_date(written) == Unread("ambiguous_date", written)


@pytest.mark.parametrize("written", ["31.02.2024", "31/02/2020", "2023-13-01", "30 February 2024"])
def test_a_day_that_no_calendar_has_is_impossible(written):
    assert read_date(written) == Unread("impossible_date", written)


@pytest.mark.parametrize("written", ["", "on receipt", "October 2026", "14:31", "Q3 2024", "30 days net"])
def test_where_no_day_is_none_is_read(written):
    assert read_date(written) == Unread("no_date", written)


SETTLED = [
    ("24/4/2019 and 2/5/2019 in one list", "2/5/2019", "2019-05-02"),
    ("due 5/30/2019, issued 2/5/2019", "2/5/2019", "2019-02-05"),
    ("Date 12/02/2018  TOTAL RM 33.90", "12/02/2018", "2018-02-12"),
    ("Total 10,00 EUR 3/4/2020", "3/4/2020", "2020-04-03"),
    ("VAT no. GB123456789, 3/4/2020, USD 10.00", "3/4/2020", "2020-04-03"),
    ("Alder Supplies, Austin, TX 78701, 3/4/2020, total $10.00", "3/4/2020", "2020-03-04"),
    ("Quezon City, 3/4/2020, PHP 120.00", "3/4/2020", "2020-03-04"),
]


@pytest.mark.parametrize(("document", "written", "day"), SETTLED)
def test_the_documents_own_evidence_decides(document, written, day):
    assert read_date(written, evidence_of(document).dates) == date.fromisoformat(day)


UNSETTLED = [
    "issued 3/4/2020",
    "issued 3/4/2020, total USD 10.00",
    "issued 3/4/2020, other dates 24/4/2019 and 4/24/2019",
    "issued 3/4/2020, total CAD 10.00",
]


@pytest.mark.parametrize("document", UNSETTLED)
def test_without_evidence_it_stays_ambiguous(document):
    assert read_date("3/4/2020", evidence_of(document).dates) == Unread("ambiguous_date", "3/4/2020")


def test_a_month_that_two_languages_call_alike_is_that_of_the_documents_country():
    assert read_date("4 listopada 2021") == Unread("ambiguous_date", "4 listopada 2021")
    assert read_date("4 listopada 2021", evidence_of("Razem 10,00 PLN").dates) == date(2021, 11, 4)
    assert read_date("4. listopada 2021.", evidence_of("OIB HR12345678901").dates) == date(2021, 10, 4)


YEARLESS = [
    ("Zeitraum 01.07.2025 bis 31.07.2025", "04.07.", "2025-07-04"),
    ("Période du 01/09/2024 au 30/09/2024", "02/09", "2024-09-02"),
    ("Week 6 October 2025 to 12 October 2025", "Fri 10 Oct", "2025-10-10"),
    ("Zeitraum 20.12.2024 bis 10.01.2025", "31.12.", "2024-12-31"),
    ("Zeitraum 20.12.2024 bis 10.01.2025", "02.01.", "2025-01-02"),
    ("Invoice of March 5, 2024", "Mar 4", "2024-03-04"),
]


@pytest.mark.parametrize(("document", "written", "day"), YEARLESS)
def test_a_date_without_a_year_takes_it_from_the_dates_of_the_document(document, written, day):
    assert read_date(written, evidence_of(document).dates) == date.fromisoformat(day)


def test_a_date_without_a_year_is_none_where_no_other_date_has_one():
    assert read_date("04.07.", evidence_of("Zeitraum Juli").dates) == Unread("no_date", "04.07.")


RANGES = [
    ("01.03.2025 - 31.03.2025", "2025-03-01"),
    ("08/25/2025 - 09/07/2025", "2025-08-25"),
    ("CL-2024-01   December 31, 2024", "2024-12-31"),
]


@pytest.mark.parametrize(("written", "day"), RANGES)
def test_of_several_dates_it_is_the_first(written, day):
    assert read_date(written) == date.fromisoformat(day)


class TestMt940:
    HABITS = DateHabits(is_compact=True)

    def test_six_digits_are_year_month_day(self):
        assert read_date("160430", self.HABITS) == date(2016, 4, 30)

    def test_the_30th_of_february_is_the_last_of_that_month(self):
        assert read_date("160230", self.HABITS) == date(2016, 2, 29)
        assert read_date("150230", self.HABITS) == date(2015, 2, 28)

    def test_a_booking_after_the_value_date_is_in_the_same_year(self):
        assert booking_date("0502", date(2016, 4, 30)) == date(2016, 5, 2)

    def test_a_booking_on_the_other_side_of_new_year_is_in_the_other_year(self):
        assert booking_date("1231", date(2016, 1, 2)) == date(2015, 12, 31)
        assert booking_date("0102", date(2015, 12, 31)) == date(2016, 1, 2)

    def test_elsewhere_six_digits_are_no_date(self):
        assert read_date("160430") == Unread("no_date", "160430")


DAYS = st.dates(min_value=date(1990, 1, 1), max_value=date(2060, 12, 31))
NAMED = [name for name in languages() if name not in ("eu", "ga", "mn", "mt")]
"""Those whose dates have other words in them (Basque cases, Mongolian ordinals) are unread, and never wrong."""


@settings(max_examples=400, deadline=None)
@given(day=DAYS, language=st.sampled_from(NAMED), width=st.sampled_from(["long", "medium"]))
def test_a_date_in_the_words_of_a_language_is_read_back(day, language, width):
    written = format_date(day, width, locale=language)
    read = read_date(written, DateHabits(_order(language), frozenset({language.split("_")[0]})))
    assert read == day, written


@settings(max_examples=300, deadline=None)
@given(day=DAYS, language=st.sampled_from(languages()), width=st.sampled_from(["short", "medium", "long", "full"]))
def test_without_any_evidence_a_date_is_never_read_wrongly(day, language, width):
    written = format_date(day, width, locale=language)
    if f"{day.year}" in written:
        assert read_date(written) == day or isinstance(read_date(written), Unread), written


@given(st.text(max_size=40))
def test_no_text_raises(written):
    assert isinstance(read_date(written), date | Unread)


def _order(language):
    letters = [letter for letter in Locale.parse(language).date_formats["short"].pattern if letter in "dM"]
    return "day_first" if letters[0] == "d" else "month_first"
