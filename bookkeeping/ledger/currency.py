"""Currencies and their minor units, from ISO 4217 (currencies.json)."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType


class UnknownCurrency(ValueError):
    """A code that is not an ISO 4217 currency with a minor unit. Codes are upper case."""


@cache
def currency_scales() -> Mapping[str, int]:
    """Decimals of every currency by its code: JPY 0, EUR 2, KWD 3; those withdrawn lately among them."""
    table = json.loads(Path(__file__).with_name("currencies.json").read_text("utf-8"))
    return MappingProxyType(table["active"] | table["withdrawn"])


def currency_scale(code: str) -> int:
    """Number of decimals of a currency. Raises UnknownCurrency."""
    try:
        return currency_scales()[code]
    except KeyError:
        raise UnknownCurrency(f"{code!r} is not an ISO 4217 currency") from None
