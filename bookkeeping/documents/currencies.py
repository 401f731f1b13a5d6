"""Currencies as documents write them: codes, signs, names. Source of all of them: CLDR, by babel."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from babel import Locale
from babel.numbers import get_currency_precision
from babel.numbers import list_currencies as listed

from bookkeeping.documents.languages import data, languages
from bookkeeping.documents.unread import Unread
from bookkeeping.documents.written import folded, plain

_PRINCIPAL: Mapping[str, str] = {"$": "USD", "£": "GBP", "¥": "JPY", "€": "EUR", "₹": "INR"}
"""What a shared sign means where nothing in the document says otherwise."""


@dataclass(frozen=True, slots=True)
class CurrencyBeside:
    """What stands beside a number: the currencies that it can mean."""

    candidates: frozenset[str]

    @property
    def minor_digits(self) -> int | None:
        """Decimals that amounts in it have (ISO 4217); None when they may be three and may be others."""
        digits = {minor_digits(code) for code in self.candidates}
        return max(digits) if len(digits) == 1 or 3 not in digits else None


@cache
def minor_digits(code: str) -> int:
    """Decimals of a currency: 2 for EUR, 0 for JPY, 3 for KWD."""
    return get_currency_precision(code)


@cache
def codes() -> frozenset[str]:
    """The ISO 4217 codes that CLDR knows."""
    return frozenset(listed())


@cache
def signs() -> Mapping[str, frozenset[str]]:
    """Currencies by sign, as printed: those of ``signs.json``, which CLDR does not have, and those of CLDR."""
    found: dict[str, set[str]] = {sign: set(there) for sign, there in data("signs").items()}
    for name in (*languages(), *data("languages")["with_signs_at_home"]):
        for code, sign in Locale.parse(name).currency_symbols.items():
            if sign != code and code in codes():
                found.setdefault(plain(sign).strip(), set()).add(code)
    return {sign: frozenset(there) for sign, there in found.items() if sign}


@cache
def names() -> Mapping[str, frozenset[str]]:
    """Currencies by name in any of the languages, folded."""
    found: dict[str, set[str]] = {}
    for language in languages():
        locale = Locale.parse(language)
        for code, name in locale.currencies.items():
            found.setdefault(folded(name), set()).add(code)
        for code, forms in locale._data["currency_names_plural"].items():
            for name in forms.values():
                found.setdefault(folded(name), set()).add(code)
    return {name: frozenset(there) for name, there in found.items()}


@cache
def _sign_pattern() -> re.Pattern[str]:
    longest_first = sorted(signs(), key=len, reverse=True)
    alternatives = "|".join(re.escape(sign) for sign in longest_first)
    return re.compile(rf"(?<![^\W\d_])(?:{alternatives})(?![^\W\d_])|[$€£¥₹₦₩₽₺₴₫₱฿₪₡₲₵₸₼₾]")


_NUMBER = re.compile(r"\d(?:[\d.,']*\d)?")
_CODE = re.compile(r"(?<![^\W\d_])[A-Z]{3}(?![^\W\d_])")


def candidates(text: str) -> frozenset[str]:
    """The currencies that a piece of text can mean: by a code, else by a sign, else by a name."""
    text = plain(text).strip()
    by_code = {match for match in _CODE.findall(text) if match in codes()}
    if by_code:
        return frozenset(by_code)
    upper = text.upper()
    if upper in codes():
        return frozenset({upper})
    by_sign = [signs().get(match, frozenset()) for match in _sign_pattern().findall(text)]
    if by_sign:
        return frozenset().union(*by_sign)
    return names().get(folded(text), frozenset())


_WORDS = frozenset(
    {"ALL", "ANG", "BAM", "BOB", "COP", "CUP", "DOP", "ERN", "GEL", "LEK", "MAD", "MOP", "MUR"}
    | {"PAB", "PEN", "RON", "SAR", "SOS", "STD", "STN", "TOP", "TRY", "VED", "VES"}
)
"""Codes that are also words or names in capitals: they count only beside a number."""

_MARK = r"(?:[^\W\d_]\.?){1,4}[^\w\s.,;:()-]?"
_BEFORE = re.compile(
    rf"(?:(?P<word>(?<![^\W\d_]){_MARK})(?P<gap> *| +-)|(?P<sign>[^\w\s()-]) *-?) ?\(?$",
)
_AFTER = re.compile(rf"-?(?:(?P<gap> *)(?P<word>{_MARK}(?![^\W\d_]))| *(?P<sign>[^\w\s.,;:)-]))")


def currency_beside(text: str, start: int, end: int) -> CurrencyBeside | None:
    """The currency that stands before, else after ``text[start:end]`` with nothing but spaces and a sign between."""
    return next(_beside(text, start, end), None)


def _beside(text: str, start: int, end: int) -> Iterator[CurrencyBeside]:
    """What stands on either side. What could also be a word (PEN, ALL) must be at most one space away."""
    for match in (_BEFORE.search(text[max(0, start - 40) : start]), _AFTER.match(text[end : end + 40])):
        if match is None:
            continue
        mark = match["word"] or match["sign"]
        if mark in _WORDS and len(match["gap"]) > 1:
            continue
        found = candidates(mark)
        if found:
            yield CurrencyBeside(found)


def read_currency(written: str, mentioned: Collection[str] = ()) -> str | Unread:
    """The code of the currency that is written. A shared sign is decided by the codes that the document mentions.

    Without any, ``$`` is USD, ``£`` GBP, ``¥`` JPY; what is then still shared (``kr``) is ambiguous.
    """
    found = candidates(written)
    if not found:
        return Unread("no_currency", written)
    if len(found) == 1:
        return next(iter(found))
    confirmed = found & frozenset(mentioned)
    if len(confirmed) == 1:
        return next(iter(confirmed))
    principal = {code for sign, code in _PRINCIPAL.items() if sign in plain(written) and code in found}
    return principal.pop() if len(principal) == 1 and not confirmed else Unread("ambiguous_currency", written)


def mentioned_codes(source: str) -> frozenset[str]:
    """The currencies that a document prints: by code, and by a sign that is the sign of one currency alone.

    What could be a word or an initial counts only beside a number.
    """
    text = plain(source)
    found = {match for match in _CODE.findall(text) if match in codes() - _WORDS}
    beside = (item for match in _NUMBER.finditer(text) for item in _beside(text, match.start(), match.end()))
    found |= {next(iter(item.candidates)) for item in beside if len(item.candidates) == 1}
    return frozenset(found)


def possible_codes(source: str) -> frozenset[str]:
    """Every currency that anything in a document could mean: codes, all readings of its signs, names."""
    text = plain(source)
    words = folded(source)
    found = {code for code in re.findall(r"(?<![^\W\d_])[A-Za-z]{3}(?![^\W\d_])", text) if code.upper() in codes()}
    by_sign = (signs().get(match, frozenset()) for match in _sign_pattern().findall(text))
    by_name = (there for name, there in names().items() if name in words)
    return frozenset({code.upper() for code in found}.union(*by_sign, *by_name))
