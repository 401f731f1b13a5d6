"""What a document says about itself: its decimal mark, the order of its dates, its currencies, its countries."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cache

from babel import Locale, UnknownLocaleError, languages
from babel.core import get_global
from babel.numbers import format_decimal, get_territory_currencies

from bookkeeping.documents.currencies import codes, mentioned_codes
from bookkeeping.documents.dates import DateHabits, Order, orders_in, whole_dates
from bookkeeping.documents.numbers import SPACED, Mark, NumberHabits, is_either
from bookkeeping.documents.written import folded, plain

_TAX_NUMBER = re.compile(
    r"(?<![^\W_])(?:(AT)U|(BE|BG|CH|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|NO|PL|PT|RO|SE|SI|SK))"
    r"(?=[ -]?\d[\d .-]{5,}\d)"
)
"""How VAT numbers of Europe begin."""
_BANK_NUMBER = re.compile(r"(?<![^\W_])([A-Z]{2})(?=\d{2}(?: ?[A-Z\d]{4}){3,})")
"""How an IBAN begins (ISO 13616)."""
_STATE_AND_ZIP = re.compile(
    r"(?<![^\W_])(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT"
    r"|V[AT]|W[AIVY]) +\d{5}(?:-\d{4})?(?!\d)"
)
"""How an address in the United States ends."""
_NOT_AMOUNT = re.compile(r"\d+[.:/-]\d+[.:/-]\d+|\d+:\d+")
_DOTTED_DATE = re.compile(r"(?<![\d.])\d{1,2}\.\d{1,2}\.\d{4}(?!\d)")
_GROUPING_APOSTROPHE = re.compile(r"\d'\d{3}")
_NEAR = timedelta(days=800)
_MT940 = re.compile(r"^:6[01][FM]?:", re.MULTILINE)
_SWIFT = re.compile(r"^:?\d{2}[A-Z]?: ?.*(?<!\d)\d{6}(?!\d)", re.MULTILINE)
"""A field of a SWIFT message with a date of six digits."""
_MANY = 3
"""So many times the numbers with one mark must outnumber those with the other, where a document has both."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found in one document. ``mentioned`` are currency codes, ``territories`` ISO 3166 codes."""

    decimal_mark: Mark | None
    date_order: Order | None
    mentioned: frozenset[str]
    territories: frozenset[str]
    is_compact: bool
    span: tuple[date, date] | None

    @property
    def dates(self) -> DateHabits:
        """How to read its dates."""
        return DateHabits(self.date_order, _languages_of(self.territories), self.is_compact, self.span)

    def numbers(self, minor_digits: int | None = None, *, is_account: bool = False) -> NumberHabits:
        """How to read its amounts in a currency of so many decimals."""
        return NumberHabits(self.decimal_mark, minor_digits, is_account)


def evidence_of(source: str) -> Evidence:
    """What a document's text says about how it writes."""
    text = plain(source)
    mentioned = mentioned_codes(text)
    territories = _territories(text, mentioned)
    orders = orders_in(text)
    if len(orders) == 1:
        order: Order | None = next(iter(orders))
    else:
        order = None if orders else _order_of(territories)
    is_compact = _SWIFT.search(text) is not None
    span = _span(whole_dates(text, DateHabits(order, _languages_of(territories), is_compact)))
    mark = "," if _MT940.search(text) else _decimal_mark(text) or _mark_of_dates(text) or _mark_of(territories)
    return Evidence(mark, order, mentioned, territories, is_compact, span)


def _span(whole: frozenset[date]) -> tuple[date, date] | None:
    """The first and the last date, those left out that are years away from the others (a birth, an end of term)."""
    if not whole:
        return None
    middle = sorted(whole)[len(whole) // 2]
    near = [day for day in whole if abs(day - middle) <= _NEAR]
    return min(near), max(near)


def _mark_of_dates(text: str) -> Mark | None:
    """Where dates are dotted, decimals have commas (but in Switzerland, which groups with apostrophes)."""
    return "," if _DOTTED_DATE.search(text) and not _GROUPING_APOSTROPHE.search(text) else None


def _decimal_mark(text: str) -> Mark | None:
    """The mark before the decimals of the numbers that can be read in one way only."""
    votes: Counter[Mark] = Counter()
    for match in SPACED.finditer(_NOT_AMOUNT.sub(" ", text)):
        mark = _clear_mark(match.group())
        if mark is not None:
            votes[mark] += 1
    point, comma = votes["."], votes[","]
    if point > comma * _MANY or (point and not comma):
        return "."
    if comma > point * _MANY or (comma and not point):
        return ","
    return None


def _clear_mark(token: str) -> Mark | None:
    """The decimal mark of a token that shows it: two marks, one that repeats, or two decimals."""
    marks = [character for character in token if character in ".,"]
    if not marks or is_either(token):
        return None
    last: Mark = "." if marks[-1] == "." else ","
    other: Mark = "," if last == "." else "."
    if len(set(marks)) == 2:
        return last
    if len(marks) > 1:
        return other
    decimals = len(token) - token.rindex(last) - 1
    return last if decimals == 2 or token.startswith(("0.", "0,")) else None


def _territories(text: str, mentioned: Iterable[str]) -> frozenset[str]:
    """Countries of its tax and bank numbers; else of its addresses; else those whose money its currencies are."""
    by_number = {match[1] or match[2] for match in _TAX_NUMBER.finditer(text)}
    by_number |= {match[1] for match in _BANK_NUMBER.finditer(text)} & _known_territories()
    if by_number:
        return frozenset("GR" if code == "EL" else code for code in by_number)
    words = folded(text)
    by_address = {code for name, code in _country_names().items() if name in words and _is_whole(name, words)}
    if _STATE_AND_ZIP.search(text):
        by_address.add("US")
    if by_address:
        return frozenset(by_address)
    return frozenset().union(*(_homes_of(code) for code in mentioned)) if mentioned else frozenset()


def _is_whole(name: str, words: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", words) is not None


@cache
def _country_names() -> Mapping[str, str]:
    """Countries by folded name, in English and in their own languages. Names of four letters and less are left out."""
    found: dict[str, str] = {}
    for code in _known_territories():
        for language in ("en", *languages.get_official_languages(code, de_facto=True)):
            try:
                name = Locale.parse(language).territories.get(code, "")
            except (UnknownLocaleError, ValueError):
                continue
            if len(name) > 4 or (name and not name.isascii()):
                found[folded(name)] = code
    return found


@cache
def _known_territories() -> frozenset[str]:
    there = map(str, Locale.parse("en").territories)
    return frozenset(code for code in there if code.isalpha() and len(code) == 2)


@cache
def _homes_of(currency: str) -> frozenset[str]:
    return frozenset(
        code for code in _known_territories() if currency in codes() and currency in get_territory_currencies(code)
    )


def _order_of(territories: frozenset[str]) -> Order | None:
    """The order in which all languages of all these countries write short dates, None when they do not agree."""
    found = {order for code in territories for order in _orders_at_home(code)}
    return next(iter(found)) if len(found) == 1 else None


def _mark_of(territories: frozenset[str]) -> Mark | None:
    """The decimal mark of all languages of all these countries, None when they do not agree."""
    found = {mark for code in territories for mark in _marks_at_home(code)}
    return next(iter(found)) if len(found) == 1 else None


@cache
def _marks_at_home(territory: str) -> frozenset[Mark]:
    found: set[Mark] = set()
    for locale in _locales(territory):
        found.add("," if "," in format_decimal(Decimal("0.5"), locale=locale) else ".")
    return frozenset(found)


def _locales(territory: str) -> Iterator[Locale]:
    for language in languages.get_official_languages(territory, de_facto=True):
        try:
            yield Locale.parse(f"{language}_{territory}")
        except (UnknownLocaleError, ValueError):
            continue


@cache
def _orders_at_home(territory: str) -> frozenset[Order]:
    found: set[Order] = set()
    for locale in _locales(territory):
        letters = re.sub(r"[^dMy]", "", locale.date_formats["short"].pattern)
        if letters and not letters.startswith("y"):
            found.add("day_first" if letters.startswith("d") else "month_first")
    return frozenset(found)


@cache
def _languages_of(territories: frozenset[str]) -> frozenset[str]:
    known = get_global("territory_languages")
    return frozenset(language for code in territories for language in known.get(code, {}))
