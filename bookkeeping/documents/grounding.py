"""Grounding: which values of a record the document does not have. Never taken from a model's word.

A number is there when some number of the document has the same magnitude (signs are conventions), a date when some
date of it is the same day, a currency when some code, sign or name can mean it, an identifier when its characters are
there in a row, and a text when its words are there in that order (a cell that is wrapped over lines has others
between). All of it after the folding and the coercion that the values went through themselves.
"""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from bookkeeping.documents.coercion import Record, Value
from bookkeeping.documents.currencies import minor_digits, possible_codes
from bookkeeping.documents.dates import dates_in
from bookkeeping.documents.evidence import Evidence
from bookkeeping.documents.numbers import SPACED, UNSPACED, interpret
from bookkeeping.documents.payload import Kind, PayloadSchema
from bookkeeping.documents.written import compact, folded, plain

_SHORT = 4
"""An identifier of fewer characters must be a word of its own: somewhere inside others anything that short is found."""


class Source:
    """A document, made ready to be asked what it has. ``evidence`` is that of the whole document."""

    def __init__(self, text: str, evidence: Evidence) -> None:
        self._words = _words(text)
        self._word_set = frozenset(self._words)
        self._folded = folded(text)
        self._compact = compact(text)
        self._magnitudes = frozenset(_magnitudes(plain(text), evidence))
        self._dates = dates_in(plain(text), evidence.dates)
        self._currencies = possible_codes(text)

    def has(self, kind: Kind, value: Value) -> bool:
        """Whether the document has this value of a field of this kind."""
        if isinstance(value, Decimal):
            return abs(value) in self._magnitudes
        if isinstance(value, date):
            return value in self._dates
        if kind is Kind.CURRENCY:
            return value in self._currencies
        if kind is Kind.IDENTIFIER and self._has_identifier(value):
            return True
        return self._has_words(value)

    def _has_identifier(self, value: str) -> bool:
        wanted = compact(value)
        return len(wanted) >= _SHORT and wanted in self._compact

    def _has_words(self, value: str) -> bool:
        wanted = _words(value)
        if not wanted:
            return folded(value) in self._folded
        there = iter(self._words)
        return all(word in self._word_set for word in wanted) and all(word in there for word in wanted)


def fabricated(record: Record, schema: PayloadSchema, source: Source) -> tuple[str, ...]:
    """The paths (``total``, ``rows.2.amount``) of the values that the document does not have."""
    return tuple(path for path, kind, value in _values(record, schema) if not source.has(kind, value))


def _values(record: Record, schema: PayloadSchema) -> Iterator[tuple[str, Kind, Value]]:
    for field in schema.fields:
        if field.name in record.fields:
            yield field.name, field.kind, record.fields[field.name]
    for number, row in enumerate(record.rows):
        for field in schema.row_fields:
            if field.name in row:
                yield f"rows.{number}.{field.name}", field.kind, row[field.name]


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", folded(text)))


def _magnitudes(text: str, evidence: Evidence) -> Iterator[Decimal]:
    """The magnitudes of all numbers, with and without spaces as groups, in each reading that coercion can take."""
    digits = {None, *(minor_digits(code) for code in evidence.mentioned)}
    for pattern in (SPACED, UNSPACED):
        for match in pattern.finditer(text):
            for minor in digits:
                value = interpret(match.group(), evidence.decimal_mark, minor)
                if value is not None:
                    yield value
