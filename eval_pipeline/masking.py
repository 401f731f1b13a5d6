"""What must not leave the process: secrets, and what the setting EVAL_MASK marks as personal.

Masked is everything that goes to LangSmith or to a collector of spans, and what goes out as an error. The patterns of
EVAL_MASK are trusted like the rest of the settings: one that backtracks without end holds up what it masks.
"""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pydantic import SecretStr

from eval_pipeline.settings import Settings, settings

MASKED = "«masked»"
SHORTEST = 8
"""A secret shorter than this is not looked for by its value: it would be found in the middle of words."""

SHAPES = (
    r"sk-[A-Za-z0-9_-]{16,}",
    r"lsv2_[a-z]{2}_[A-Za-z0-9_]{8,}",
    r"(?i:\bbearer\s+)[A-Za-z0-9._~+/-]{8,}=*",
    r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)",
)
"""How keys of providers, tokens in headers, and passwords in addresses look."""

SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$")
"""Which variables of the environment hold a secret."""


class Masker:
    """Masks texts and JSON values. Nothing but what is found is changed, and masking twice is masking once."""

    def __init__(self, secrets: Iterable[str], patterns: Iterable[str]) -> None:
        known = sorted({item for item in secrets if len(item) >= SHORTEST}, key=len, reverse=True)
        values = ["|".join(map(re.escape, known))] if known else []
        self._patterns = tuple(re.compile(pattern) for pattern in (*values, *SHAPES, *patterns))

    def text(self, text: str) -> str:
        """The text with MASKED in the place of what must not be seen."""
        for pattern in self._patterns:
            if pattern.search(text):
                text = MASKED.join(pattern.sub(_masked, part) for part in text.split(MASKED))
        return text

    def value(self, value: Any) -> Any:
        """The JSON value with every string in it masked, keys of objects too; no entry is lost by that."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._entries(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def _entries(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        masked: dict[str, Any] = {}
        for key, item in value.items():
            name = shown = self.text(str(key))
            number = 1
            while name in masked:
                number += 1
                name = f"{shown} {number}"
            masked[name] = self.value(item)
        return masked


def _masked(match: re.Match[str]) -> str:
    return MASKED if match.group() else ""


def mask(value: Any) -> Any:
    """The JSON value, or the text, without what this process must keep to itself."""
    return _masker().value(value)


@cache
def _masker() -> Masker:
    chosen = settings()
    return Masker((*secrets_of(chosen), *secrets_in(os.environ)), chosen.mask)


def secrets_of(chosen: Settings) -> tuple[str, ...]:
    """The settings that are secrets."""
    found = (getattr(chosen, name) for name in type(chosen).model_fields)
    flat = (item for value in found for item in (value if isinstance(value, tuple) else (value,)))
    return tuple(item.get_secret_value() for item in flat if isinstance(item, SecretStr))


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that are secrets by their name."""
    return tuple(value for name, value in environment.items() if SECRET_NAMES.search(name))
