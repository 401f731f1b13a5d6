"""A document's text with what its publisher says of it, kept where the text itself has it.

A published key is expected of the Typewriter only when the value stands on the paper: an address that the text lacks,
a total that only the XML knows or a date that can be read in two ways is no expectation. Whether a value stands there
is decided here by its written forms, and not by the code that is graded.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from bookkeeping.documents import catalogue

FLOOR: Final = 0.85
NEUTRAL: Final = "Larch Trading Ltd"
"""Who we are where nothing says it: a party of no document, so that we are the buyer."""

_GROUPS: Final = (",", ".", " ", "\u00a0", "\u202f", "'", "\u2019", "")
_SIGNS: Final[Mapping[str, tuple[str, ...]]] = {
    "AED": ("AED",),
    "EUR": ("EUR", "€", "euro"),
    "GBP": ("GBP", "£"),
    "INR": ("INR", "₹"),
    "JPY": ("JPY", "¥"),
    "MYR": ("MYR", "RM"),
    "PLN": ("PLN", "zł"),
}
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class Published:
    """What is published of one document: values by field of the catalogue (amounts and dates as it writes them).

    ``doc_type`` is None where the publisher does not say it. ``rows`` are those of its table in their order.
    """

    doc_type: str | None
    fields: Mapping[str, str | None]
    rows: Sequence[Mapping[str, str | None]] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """One text and the documents that it holds. ``company`` is who we are."""

    name: str
    text: str
    documents: tuple[Published, ...]
    company: str = NEUTRAL
    tags: tuple[str, ...] = ()


def example(paper: Paper, identity: str, document: str) -> dict[str, Any]:
    """The paper as an example. ``document`` is the file that has its text."""
    parts = [_expected(paper.text, item) for item in paper.documents]
    expected: dict[str, Any] = {"n_proposals": len(parts), "max_fabricated": 0}
    if any(part.get("fields") or part.get("rows") for part in parts):
        expected["field_accuracy_floor"] = FLOOR
    expected |= parts[0] if len(parts) == 1 else {"documents": [{"fields": {}, **part} for part in parts]}
    inputs = {"document": document, "company": paper.company}
    return {"id": identity, "inputs": inputs, "expected": expected, "tags": list(paper.tags)}


def _expected(text: str, published: Published) -> dict[str, Any]:
    schema = catalogue().types[published.doc_type].payload if published.doc_type else None
    expected: dict[str, Any] = {"doc_type": published.doc_type, "schema_type": schema.name} if schema else {}
    fields = {name: value for name, value in kept(text, published) if schema is None or schema.field(name)}
    if fields:
        expected["fields"] = fields
    if published.rows and (schema is None or schema.row_fields):
        expected["row_count"] = len(published.rows)
        rows = [dict(_kept(text, row)) for row in published.rows]
        if any(rows):
            expected["rows"] = [row for row in rows if row]
    return expected


def kept(text: str, published: Published) -> Iterator[tuple[str, str]]:
    """The published fields that the text has."""
    return _kept(text, published.fields)


def _kept(text: str, values: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in values.items() if value and stands(text, name, value))


def stands(text: str, name: str, value: str) -> bool:
    """Whether a field's value is written in the text, and can be read in one way only."""
    if name == "currency":
        return re.fullmatch("[A-Z]{3}", value) is not None and any(
            _word_stands(text, sign) for sign in _SIGNS.get(value, (value,))
        )
    if name.endswith("date"):
        return _date_stands(text, value)
    try:
        amount = Decimal(value) if name in _AMOUNTS else None
    except InvalidOperation:
        return False
    if amount is not None:
        return any(_apart(text, form) for form in _amount_forms(amount))
    return _plain(value) in _plain(text)


_SWIFT_LINE: Final = ":61:"
"""How a booking begins in MT940, whose dates are YYMMDD (SWIFT standards, field 61)."""

_AMOUNTS: Final = frozenset(
    {"amount", "net", "tax", "total", "payable", "opening_balance", "closing_balance", "discount", "prepaid", "charges"}
)


def _word_stands(text: str, word: str) -> bool:
    return re.search(rf"(?<![^\W\d_]){re.escape(word)}(?![^\W\d_])", text) is not None


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _apart(text: str, form: str) -> bool:
    """Whether the form stands there and not as a part of a longer number."""
    return re.search(rf"(?<![0-9.,]){re.escape(form)}(?![0-9]|[.,][0-9])", text) is not None


def _amount_forms(amount: Decimal) -> Iterator[str]:
    """Every way to write the amount without its sign: groups, decimal mark, and as many decimals as it may have."""
    scale = max(0, -int(amount.normalize().as_tuple().exponent))
    for decimals in range(scale, max(scale, 4) + 1):
        for group in _GROUPS:
            for mark in {".", ","} - {group}:
                whole, _, rest = f"{abs(amount):,.{decimals}f}".partition(".")
                yield whole.replace(",", group) + (mark + rest if rest else "")
        if decimals == scale and scale > 0:
            yield f"{abs(amount):.{decimals}f}".lstrip("0").replace(".", ",")
    if scale == 0:  # SWIFT writes a whole amount with a comma at its end
        yield f"{abs(amount):.0f},"


def _date_stands(text: str, value: str) -> bool:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return False
    plain = _plain(text)
    certain = [
        f"{day:%Y-%m-%d}",
        f"{day:%Y/%m/%d}",
        f"{day:%Y.%m.%d}",
        f"{day:%Y%m%d}",
        f"{day:%d.%m.%Y}",
        f"{day.day}.{day.month}.{day.year}",
    ]
    if f"{_SWIFT_LINE}{day:%y%m%d}" in text:
        return True
    if any(re.search(rf"(?<!\d){re.escape(form)}(?!\d{{1,5}}(?:\D|$))", plain) for form in certain):
        return True
    month = _MONTHS[day.month - 1]
    if re.search(rf"(?<!\d)0?{day.day}[ .-]*{month}[a-z]*[ .,-]*(?:{day.year}|{day:%y})(?!\d)", plain):
        return True
    if re.search(rf"{month}[a-z]*[ .-]*0?{day.day},?[ -]*{day.year}", plain):
        return True
    return day.day > 12 and re.search(_either_order(day), plain) is not None


def _either_order(day: date) -> str:
    """Day and month by numbers, where the day can be no month."""
    year = rf"(?:{day.year}|{day:%y})"
    return rf"(?<!\d)(?:0?{day.day}[/ .-]0?{day.month}|0?{day.month}[/ .-]0?{day.day})[/ .-]{year}(?!\d)"
