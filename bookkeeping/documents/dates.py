"""Dates as documents write them, into ISO dates.

What a numeric date means is decided by its own figures (a day above 12), by its form (dotted dates are day first), by
the other dates of the document and by the countries that its currency and its tax numbers name. What is then still
open is ambiguous and said to be so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Literal

from bookkeeping.documents.languages import months
from bookkeeping.documents.unread import Unread
from bookkeeping.documents.written import folded

Order = Literal["day_first", "month_first"]

_YEAR_FIRST = tuple(
    re.compile(rf"(?<![\d./-])(?P<year>\d{{4}}){middle}(?P<day>\d{{1,2}})(?!\d)")
    for middle in (
        r"(?P<mark>[-/])(?P<month>\d{1,2})(?P=mark)",
        r"\. ?(?P<month>\d{1,2})\. ?",
        r" ?[年년] ?(?P<month>\d{1,2}) ?[月월] ?",
    )
)
_NUMERIC = re.compile(
    r"(?<![\d.,/-])(\d{1,2}) ?(?P<mark>[-/.]) ?(\d{1,2}) ?(?P=mark) ?(\d{4}|'?\d{2})(?![\d/]|[-.,]\d)"
    r"|(?<![\d.,/-] )(?<![\d.,/-])(?P<day>\d{2}) (?P<month>\d{2}) (?P<year>(?:19|20)\d{2})(?![\d/]|[-.,]\d)"
)
_ERA = re.compile(r"(令和|平成|昭和) ?(\d{1,2}|元) ?年 ?(\d{1,2}) ?月 ?(\d{1,2})")
_COMPACT = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?:\d{6})?(?!\d)")
_SHORT = re.compile(r"(?<!\d)(\d{2})(\d{2})(\d{2})(?!\d)")
_GAP = r"[ .,/\-]{0,3}(?:de |del |of |d'|da )?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|ª|°|o|a|\.)?"
_LONG_YEAR = r"(?P<year>\d{4})(?!\d)"
_SHORT_YEAR = r"(?P<year>'?\d{2})(?!\d|, ?\d{4})"
_AFTER_YEAR = r"(?:\. gada| m\.| թ\.| ж\.)?"
_ERA_NAME = r"(?:ค\.ศ\. |พ\.ศ\. )?"
_VIETNAMESE = re.compile(r"(?<!\d)(\d{1,2}) (?:tháng|thg) (\d{1,2})(?:,| năm) (\d{4})(?!\d)")
_STATEMENT_LINE = re.compile(r":61:(\d{6})(\d{4})?")
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}


@dataclass(frozen=True, slots=True)
class DateHabits:
    """How a document writes dates. ``order``: of its numeric dates, None when nothing tells.

    ``languages``: those that it can be in, empty when nothing tells. ``is_compact``: six digits are year, month, day
    (MT940), and the 30th of February is the last of that month (interest on 360 days). ``span``: the first and the last
    of its whole dates, from which a date without a year takes one.
    """

    order: Order | None = None
    languages: frozenset[str] = frozenset()
    is_compact: bool = False
    span: tuple[date, date] | None = None


def read_date(written: str, habits: DateHabits = DateHabits()) -> date | Unread:
    """The first date in ``written``."""
    text = folded(written)
    for _, result in sorted(_found(text, written, habits), key=lambda item: item[0]):
        return result
    return next(_yearless(text, written, habits), Unread("no_date", written))


def dates_in(text: str, habits: DateHabits = DateHabits()) -> frozenset[date]:
    """Every date that a text states; those that are ambiguous in both readings."""
    found: set[date] = set()
    for one in (habits, replace(habits, order="day_first"), replace(habits, order="month_first")):
        found |= {result for _, result in _found(folded(text), "", one) if isinstance(result, date)}
        found |= {result for result in _yearless(folded(text), "", one) if isinstance(result, date)}
    if habits.is_compact:
        found |= _statement_lines(text)
    return frozenset(found)


def whole_dates(text: str, habits: DateHabits) -> frozenset[date]:
    """The dates of a text that have a year and are clear."""
    return frozenset(result for _, result in _found(folded(text), "", habits) if isinstance(result, date))


def _statement_lines(text: str) -> set[date]:
    """Value dates and booking dates of the lines of an MT940 statement."""
    found: set[date] = set()
    for match in _STATEMENT_LINE.finditer(text):
        value_date = read_date(match[1], DateHabits(is_compact=True))
        booking = booking_date(match[2], value_date) if match[2] and isinstance(value_date, date) else None
        found |= {day for day in (value_date, booking) if isinstance(day, date)}
    return found


def orders_in(text: str) -> frozenset[Order]:
    """The orders that the clear numeric dates of a text have: with slashes or dashes, and a figure above twelve."""
    found: set[Order] = set()
    for match in _NUMERIC.finditer(folded(text)):
        if match["mark"] in ("/", "-") and len(match[4]) == 4:
            first, second = int(match[1]), int(match[3])
            if 12 < first <= 31 and 1 <= second <= 12:
                found.add("day_first")
            elif 12 < second <= 31 and 1 <= first <= 12:
                found.add("month_first")
    return frozenset(found)


def booking_date(month_and_day: str, value_date: date) -> date | Unread:
    """The date of four digits MMDD in the year that brings it nearest to the value date (MT940, field 61)."""
    match = re.fullmatch(r"(\d{2})(\d{2})", month_and_day.strip())
    if match is None:
        return Unread("no_date", month_and_day)
    near = (
        _calendar(value_date.year + step, int(match[1]), int(match[2]), month_and_day, clamps=True)
        for step in (-1, 0, 1)
    )
    there = [day for day in near if isinstance(day, date)]
    if not there:
        return Unread("impossible_date", month_and_day)
    return min(there, key=lambda day: abs((day - value_date).days))


def _yearless(text: str, written: str, habits: DateHabits) -> Iterator[date | Unread]:
    """Dates without a year, in the year that brings them between the first and the last date of the document."""
    if habits.span is None:
        return
    for pattern in _yearless_patterns():
        for match in pattern.finditer(text):
            parts = match.groupdict()
            if "word" in parts:
                possible = {(month, int(parts["day"])) for month in months()[parts["word"]]}
            else:
                first, second = int(parts["first"]), int(parts["second"])
                is_open = parts["mark"] != "." and habits.order is None
                is_day_first = parts["mark"] == "." or habits.order == "day_first"
                possible = {(second, first)} if is_day_first or is_open else set()
                possible |= {(first, second)} if not is_day_first or is_open else set()
            yield _in_span(possible, habits.span, written)


def _in_span(possible: set[tuple[int, int]], span: tuple[date, date], written: str) -> date | Unread:
    """The only day of these months and days that lies in the span; without any, the nearest one to its end."""
    years = range(span[0].year - 1, span[1].year + 2)
    days = {_calendar(year, month, day, written) for year in years for month, day in possible}
    there = {day for day in days if isinstance(day, date)}
    within = {day for day in there if span[0] <= day <= span[1]}
    if len(within) == 1:
        return within.pop()
    if within or len(possible) > 1:
        return Unread("ambiguous_date", written)
    if not there:
        return Unread("no_date", written)
    return min(there, key=lambda day: abs((day - span[1]).days))


def _found(text: str, written: str, habits: DateHabits) -> Iterator[tuple[int, date | Unread]]:
    """Dates with their places. A place that one form has taken is not looked at by the next."""
    taken: list[tuple[int, int]] = []
    for match, result in _every(text, written, habits):
        if result is not None and not any(match.start() < end and start < match.end() for start, end in taken):
            taken.append(match.span())
            yield match.start(), result


@cache
def _month_word() -> str:
    longest_first = sorted(months(), key=len, reverse=True)
    return rf"(?<![^\W\d_])ב?(?P<word>{'|'.join(map(re.escape, longest_first))})(?![^\W\d_])"


@cache
def _yearless_patterns() -> tuple[re.Pattern[str], ...]:
    """Dates without a year, as statements and time sheets have them: 04.07., 02/09, 6 Oct, Oct 6."""
    word = _month_word()
    return (
        re.compile(
            r"(?<![\d.,/-])(?P<first>\d{1,2})(?P<mark>[./-]) ?(?P<second>\d{1,2})(?:(?<=[/-]\d\d)|\.)(?![\d,/-])"
        ),
        re.compile(rf"(?<![\d.,/-]){_DAY}{_GAP}{word}(?!{_GAP}\d)"),
        re.compile(rf"{word}{_GAP}{_DAY}(?![\d.,/-])"),
    )


@cache
def _named_patterns() -> tuple[re.Pattern[str], ...]:
    """Dates with the name of a month: day first, month first, year first, year and day first; long years first."""
    word = _month_word()
    return (
        re.compile(rf"(?<!\d){_DAY}{_GAP}{word}{_GAP}{_ERA_NAME}{_LONG_YEAR}"),
        re.compile(rf"{word}{_GAP}{_DAY}(?!\d){_GAP}{_LONG_YEAR}"),
        re.compile(rf"(?<!\d)(?P<year>\d{{4}}){_AFTER_YEAR}{_GAP}{word}{_GAP}{_DAY}(?!\d)"),
        re.compile(rf"(?<!\d)(?P<year>\d{{4}}){_AFTER_YEAR}{_GAP}{_DAY}{_GAP}{word}"),
        re.compile(rf"(?<!\d){_DAY}{_GAP}{word}{_GAP}{_SHORT_YEAR}"),
        re.compile(rf"{word}{_GAP}{_DAY}(?!\d){_GAP}(?P<year>'\d{{2}})(?!\d)"),
    )


def _every(text: str, written: str, habits: DateHabits) -> Iterator[tuple[re.Match[str], date | Unread | None]]:
    for match in _ERA.finditer(text):
        year = _ERAS[match[1]] + (1 if match[2] == "元" else int(match[2]))
        yield match, _calendar(year, int(match[3]), int(match[4]), written)
    for match in (found for pattern in _YEAR_FIRST for found in pattern.finditer(text)):
        yield match, _calendar(int(match["year"]), int(match["month"]), int(match["day"]), written)
    for match in _VIETNAMESE.finditer(text):
        yield match, _calendar(int(match[3]), int(match[2]), int(match[1]), written)
    for match in _NUMERIC.finditer(text):
        yield match, _numeric(match, written, habits)
    for pattern in _named_patterns():
        for match in pattern.finditer(text):
            yield match, _named(match, written, habits)
    if habits.is_compact:
        for match in _SHORT.finditer(text):
            yield match, _calendar(2000 + int(match[1]), int(match[2]), int(match[3]), written, clamps=True)
    for match in _COMPACT.finditer(text):
        if 1900 <= int(match[1]) <= 2100:
            result = _calendar(int(match[1]), int(match[2]), int(match[3]), written)
            yield match, result if isinstance(result, date) else None


def _numeric(match: re.Match[str], written: str, habits: DateHabits) -> date | Unread:
    if match["day"]:
        return _calendar(int(match["year"]), int(match["month"]), int(match["day"]), written)
    first, second, year = int(match[1]), int(match[3]), _year(match[4])
    day_first, month_first = _calendar(year, second, first, written), _calendar(year, first, second, written)
    clear = {day for day in (day_first, month_first) if isinstance(day, date)}
    if match["mark"] == "." or not clear:
        return day_first
    if len(clear) == 1:
        return clear.pop()
    if habits.order is None:
        return Unread("ambiguous_date", written)
    return day_first if habits.order == "day_first" else month_first


def _named(match: re.Match[str], written: str, habits: DateHabits) -> date | Unread:
    by_month = months()[match["word"]]
    likely = {month for month, languages in by_month.items() if not habits.languages or languages & habits.languages}
    possible = likely or set(by_month)
    if len(possible) > 1:
        return Unread("ambiguous_date", written)
    return _calendar(_year(match["year"]), possible.pop(), int(match["day"]), written)


def _year(digits: str) -> int:
    """Two digits are 1969 to 2068, as POSIX has it; a year of the Thai calendar is 543 more than ours."""
    year = int(digits.lstrip("'"))
    if len(digits.lstrip("'")) == 2:
        return year + (2000 if year < 69 else 1900)
    return year - 543 if 2400 <= year <= 2700 else year


def _calendar(year: int, month: int, day: int, written: str, *, clamps: bool = False) -> date | Unread:
    if clamps and month == 2 and day in (29, 30):
        for last in (29, 28):
            if last <= day and (last == 28 or _is_leap(year)):
                return date(year, 2, last)
    try:
        return date(year, month, day)
    except ValueError:
        return Unread("impossible_date", written)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
