"""What a record of a document type has: fields and rows, each with its kind, and the JSON schema a model answers in.

A model is asked to copy what stands on the paper, so every value is text in its schema; the empty text says that the
paper has nothing there. What the text means is decided by coercion.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a field holds, which says how it is read and how two of its values are compared."""

    TEXT = "text"
    IDENTIFIER = "identifier"
    DATE = "date"
    AMOUNT = "amount"
    NUMBER = "number"
    RATE = "rate"
    CURRENCY = "currency"


NUMERIC = frozenset({Kind.AMOUNT, Kind.NUMBER, Kind.RATE})

_LENGTH = {
    Kind.TEXT: 160,
    Kind.IDENTIFIER: 60,
    Kind.DATE: 40,
    Kind.AMOUNT: 40,
    Kind.NUMBER: 30,
    Kind.RATE: 20,
    Kind.CURRENCY: 30,
}
"""Characters that a value may have; no paper has longer ones, and a small model that rambles ends there."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field or column. ``description`` is what the model is told, ``most`` characters at most that it may write."""

    name: str
    kind: Kind
    description: str
    most: int | None = None

    @property
    def json_schema(self) -> dict[str, Any]:
        """A text, copied from the paper."""
        return {"type": "string", "description": self.description, "maxLength": self.most or _LENGTH[self.kind]}


@dataclass(frozen=True, slots=True)
class PayloadSchema:
    """The fields of a record and the columns of its rows (none: the paper has no table).

    ``name`` is the schema type. ``core`` are the fields that a model with little room is asked for. Fields of one name
    have one kind in all schemas.
    """

    name: str
    fields: tuple[Field, ...]
    row_fields: tuple[Field, ...]
    core: frozenset[str]

    def field(self, name: str) -> Field | None:
        """The field of that name."""
        return next((item for item in self.fields if item.name == name), None)

    def row_field(self, name: str) -> Field | None:
        """The column of that name."""
        return next((item for item in self.row_fields if item.name == name), None)

    def only_core(self) -> "PayloadSchema":
        """The same schema with few core fields, figures first, and few columns: each costs a small model time."""
        core = (item for item in self.fields if item.name in self.core)
        chosen = frozenset(item.name for item in sorted(core, key=_by_importance)[:CORE_FIELDS])
        fields = tuple(_shorter(item) for item in self.fields if item.name in chosen)
        return PayloadSchema(self.name, fields, tuple(_shorter(item) for item in _few(self.row_fields)), self.core)

    def json_schema(self, max_rows: int) -> dict[str, Any]:
        """The JSON schema of an answer with at most ``max_rows`` rows. Everything is required; absent is empty."""
        properties: dict[str, Any] = {"fields": _object(self.fields)}
        if self.row_fields:
            properties["rows"] = {"type": "array", "maxItems": max_rows, "items": _object(self.row_fields)}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }


CORE_FIELDS, CORE_COLUMNS = 3, 2
_IMPORTANCE = (Kind.AMOUNT, Kind.DATE, Kind.IDENTIFIER, Kind.CURRENCY, Kind.NUMBER, Kind.RATE, Kind.TEXT)
_SHORT = {Kind.DATE: 18, Kind.AMOUNT: 14, Kind.NUMBER: 10, Kind.RATE: 6, Kind.CURRENCY: 4}
_FEW = ("description", "amount", "debit", "account", "employee", "net_pay", "quantity", "number", "date")


def _by_importance(item: Field) -> int:
    return _IMPORTANCE.index(item.kind)


def _shorter(item: Field) -> Field:
    return replace(item, most=_SHORT.get(item.kind))


def _few(columns: tuple[Field, ...]) -> tuple[Field, ...]:
    named = sorted((item for item in columns if item.name in _FEW), key=lambda item: _FEW.index(item.name))
    return tuple(named[:CORE_COLUMNS])


def _object(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {item.name: item.json_schema for item in fields},
        "required": [item.name for item in fields],
        "additionalProperties": False,
    }
