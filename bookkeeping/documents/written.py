"""Characters as documents have them, in one form: digits, spaces, minus signs and apostrophes of every script.

The same folding is applied to a document and to every value that is said to come from it, so that the two can be
compared.
"""

import re
import unicodedata
from functools import cache

_MINUS = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"
_APOSTROPHES = "\u2018\u2019\u02bc\u2032\u00b4`\uff07"
_INVISIBLE = (
    "\u200b\u200c\u200d\u200e\u200f\u061c\u2060\ufeff\u00ad\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_SUPERSCRIPTS = "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079"  # footnote marks behind an amount
_GROUP_MARKS = {0x060C: ",", 0x2E41: ",", 0x066C: "'"}  # of Arabic and Adlam
_SPACES = re.compile(r"[^\S\n]")


@cache
def _table() -> dict[int, str]:
    return {
        **dict.fromkeys(map(ord, _MINUS), "-"),
        **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
        **_GROUP_MARKS,
        **dict.fromkeys(map(ord, _INVISIBLE + _SUPERSCRIPTS), ""),
    }


def plain(text: str) -> str:
    """``text`` with the digits of all scripts as 0 to 9, one kind of space, minus and apostrophe; lines stay.

    >>> plain("١٢٣\u202f456\u2212")
    '123 456-'
    """
    text = unicodedata.normalize("NFKC", text.translate(_table())).translate(_table())
    if not text.isascii():
        text = "".join(_digit(character) for character in text)
    return _SPACES.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))


def _digit(character: str) -> str:
    return character if character.isascii() or not character.isdecimal() else str(unicodedata.decimal(character))


def folded(text: str) -> str:
    """``plain`` without regard to case, with every run of spaces and line breaks as one space."""
    return " ".join(plain(text).casefold().split())


def compact(text: str) -> str:
    """``folded`` without any space: how identifiers are compared.

    >>> compact("DE89 3704 0044")
    'de8937040044'
    """
    return folded(text).replace(" ", "")
