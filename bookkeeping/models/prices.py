"""List prices of models, for estimates of cost, and the settings that each takes. The data names its source and day."""

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from bookkeeping.models.model import Tokens

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Listed:
    """A model of the list: prices in US dollars for a million tokens; ``effort`` None where the model takes none."""

    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal
    effort: str | None


def listed(name: str) -> Listed | None:
    """The entry of a model, also of a dated name of it (``claude-haiku-4-5-20251001``); None when it has none."""
    models = _data()["models"]
    entry = models.get(name) or next((models[known] for known in models if name.startswith(f"{known}-2")), None)
    if entry is None:
        return None
    prices = {key: Decimal(entry[key]) for key in ("input", "output", "cache_write", "cache_read")}
    return Listed(**prices, effort=entry["effort"])


def default_model() -> str:
    """The model that is taken when there is a key and no choice."""
    return str(_data()["default"])


def cost_usd(name: str, tokens: Tokens) -> Decimal:
    """What these tokens cost at list prices, in US dollars; 0 for a model that is not listed."""
    entry = listed(name)
    if entry is None:
        return Decimal(0)
    return (
        entry.input * tokens.input
        + entry.output * tokens.output
        + entry.cache_write * tokens.cache_write
        + entry.cache_read * tokens.cache_read
    ) / MILLION


@cache
def _data() -> Any:
    return json.loads(files(__package__).joinpath("data", "models.json").read_text("utf-8"))
