"""What must not leave the process: secrets, and what the setting EVAL_MASK marks as personal.

``mask`` is for everything that goes to LangSmith or to a collector of spans; ``mask_secrets`` for what is stored of a
trace. Every pattern is looked for in the text as it is, and what they find together is replaced: no pattern is blind to
what another one has found. The patterns of EVAL_MASK are trusted like the rest of the settings: one that backtracks
without end holds up what it masks.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from eval_pipeline.settings import Settings, settings

MASKED = "«masked»"
SHORTEST = 8
"""A secret shorter than this is not looked for by its value: it would be found in the middle of words."""

# Papers speak of bearers too ("pay the bearer immediately"): a token has more than letters in it.
_BEARER = r"(?i:\bbearer\s+)(?=[A-Za-z-]*(?:[0-9_~+/]|\.[A-Za-z0-9]))[A-Za-z0-9._~+/-]{8,}=*"

SHAPES = (
    # A key of Anthropic or OpenAI. It begins no word's tail ("task-…") and has a digit, which words do not.
    ("sk-", r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}"),
    ("sk-ant-", r"sk-ant-[a-z]+[0-9]{2}-[A-Za-z0-9_-]{8,}"),
    ("lsv2_", r"lsv2_[a-z]{2}_[A-Za-z0-9_]{8,}"),
    ("earer ", _BEARER),
    ("EARER ", _BEARER),
    ("://", r"(?<=://)[^/\s:@\"'<>]*:[^/\s?#\"'<>]+(?=@)"),
)
"""How keys of providers, tokens in headers, and passwords in addresses look; before each a part that it always has."""

SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", re.IGNORECASE)
"""Which variables of the environment hold a secret."""
HEADER_NAMES = re.compile(r"HEADERS$", re.IGNORECASE)
"""Which hold secrets as ``name=value,name=value``, as OTEL_EXPORTER_OTLP_HEADERS does."""


class Masker:
    """Masks texts and JSON values. Nothing but what is found is changed."""

    def __init__(self, secrets: Iterable[str], patterns: Iterable[str]) -> None:
        known = sorted({item for item in secrets if len(item) >= SHORTEST}, key=len, reverse=True)
        self._rules = (
            *((item, re.compile(re.escape(item))) for item in known),
            *((part, re.compile(pattern)) for part, pattern in SHAPES),
        )
        self._personal = tuple(map(re.compile, patterns))

    def text(self, text: str) -> str:
        """The text with MASKED in the place of what must not be seen."""
        found = sorted(self._found(text))
        if not found:
            return text
        found = sorted([*found, *(match.span() for match in re.finditer(MASKED, text))])
        parts: list[str] = []
        done = 0
        for start, end in _united(found):
            parts += (text[done:start], MASKED)
            done = end
        return "".join((*parts, text[done:]))

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        for part, rule in self._rules:
            if part in text:  # many times as fast as the pattern is
                yield from (match.span() for match in rule.finditer(text))
        for pattern in self._personal:
            yield from (match.span() for match in pattern.finditer(text) if match.group())

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


def _united(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Places in order, those that overlap as one."""
    begun: tuple[int, int] | None = None
    for start, end in spans:
        if begun is not None and start < begun[1]:
            begun = (begun[0], max(begun[1], end))
            continue
        if begun is not None:
            yield begun
        begun = (start, end)
    if begun is not None:
        yield begun


def mask(value: Any) -> Any:
    """The JSON value, or the text, without what this process must keep to itself."""
    return _masker(personal=True).value(value)


def mask_secrets(value: Any) -> Any:
    """The JSON value, or the text, without secrets; what is personal stays, for it is what is graded."""
    return _masker(personal=False).value(value)


@cache
def _masker(*, personal: bool) -> Masker:
    chosen = settings()
    return Masker((*secrets_of(chosen), *secrets_in(os.environ)), chosen.mask if personal else ())


def secrets_of(chosen: Settings) -> tuple[str, ...]:
    """The settings that are secrets, and the passwords in them."""
    found = (getattr(chosen, name) for name in type(chosen).model_fields)
    flat = (item for value in found for item in (value if isinstance(value, tuple) else (value,)))
    values = tuple(item.get_secret_value() for item in flat if isinstance(item, SecretStr))
    return (*values, *(word for value in values for word in passwords_in(value)))


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that are secrets by their name, headers, and the passwords in addresses of any variable."""
    return tuple(secret for name, value in environment.items() for secret in _secrets_of_variable(name, value))


def _secrets_of_variable(name: str, value: str) -> Iterator[str]:
    if SECRET_NAMES.search(name):
        yield value
    elif HEADER_NAMES.search(name):
        for header in value.split(","):
            secret = header.partition("=")[2].strip()
            yield from dict.fromkeys((secret, unquote(secret)))
    else:
        yield from passwords_in(value)


def passwords_in(address: str) -> tuple[str, ...]:
    """The password of an address as it is written there, and as it is meant; none where there is none.

    One that is a plain word is not told: it would be found where it is no password.
    """
    try:
        password = urlsplit(address).password if "://" in address else None
    except ValueError:  # no address, whatever else it is
        return ()
    if not password or password.isalpha():
        return ()
    return tuple(dict.fromkeys((password, unquote(password))))
