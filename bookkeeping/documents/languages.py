"""The languages whose words are known: month names, names and signs of currencies. All of it comes from CLDR."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from babel import Locale

from bookkeeping.documents.written import folded


def data(name: str) -> Any:
    """The content of a data file of this package."""
    return json.loads(files(__package__).joinpath("data", f"{name}.json").read_text("utf-8"))


@cache
def languages() -> tuple[str, ...]:
    """The languages, as CLDR names them."""
    return tuple(data("languages")["languages"])


@cache
def months() -> Mapping[str, Mapping[int, frozenset[str]]]:
    """By folded name, without a final point: the month, and the languages in which it is that one."""
    found: dict[str, dict[int, set[str]]] = {}
    for language in (*languages(), "de_AT"):
        for forms in Locale.parse(language).months.values():
            for width in ("wide", "abbreviated"):
                for month, name in forms[width].items():
                    word = folded(name).rstrip(".")
                    if not word.isdecimal():
                        found.setdefault(word, {}).setdefault(month, set()).add(language)
    for word, month in (("sept", 9), ("mrz", 3), ("jänner", 1), ("febr", 2)):
        found.setdefault(word, {}).setdefault(month, set()).add("en")
    return {word: {month: frozenset(there) for month, there in by.items()} for word, by in found.items()}
