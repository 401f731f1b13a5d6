"""Forms in which a faulty writer may have hashed an entry: each gives the texts that such a writer would have hashed.

The list and its wording are those of the catalogue (hash_canonicalisation_mismatch, parameters.transformations). All
of them are tried on an entry that does not verify; none of them makes an entry right.
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from bookkeeping.ledger.reading import StoredEntry

HEAD_ORDER = (
    "chain", "version", "seq", "voucher", "posted_at", "posted_by", "posting_date", "document_date", "document_type",
    "document_number", "text", "lines",
)  # fmt: skip
LINE_ORDER = ("account", "side", "amount", "currency", "document_amount", "document_currency", "text")
AMOUNTS = ("amount", "document_amount")
Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hashed:
    """An entry that does not verify: as it is stored, its payload, and the zone of its book."""

    stored: StoredEntry
    payload: Payload
    time_zone: str

    @property
    def posted_at(self) -> datetime:
        """The stored time, in UTC."""
        return self.stored.entry.posted_at.astimezone(UTC)


def text_of(value: Any, **changes: Any) -> str:
    """JSON as the canonical form has it, but for the changes."""
    settings: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "sort_keys": True}
    return json.dumps(value, **(settings | changes))


def _at(item: Hashed, *times: str) -> Iterator[str]:
    return (text_of({**item.payload, "posted_at": told}) for told in times)


def _milliseconds(item: Hashed) -> Iterator[str]:
    moment = item.posted_at.replace(tzinfo=None)
    millisecond = moment.microsecond // 1000
    yield from _at(item, moment.isoformat(timespec="milliseconds" if millisecond else "seconds") + "Z")


def _zone_offset(item: Hashed) -> Iterator[str]:
    for zone in (ZoneInfo(item.time_zone), UTC):
        yield from _at(item, item.posted_at.astimezone(zone).isoformat(timespec="microseconds"))


def _with_amounts(item: Hashed, told: Callable[[str], Any]) -> str:
    changed = [{**line, **{name: told(line[name]) for name in AMOUNTS}} for line in item.payload["lines"]]
    return text_of({**item.payload, "lines": changed})


def _stripped(amount: str) -> str:
    return amount.rstrip("0").rstrip(".") if "." in amount else amount


def _decimal_scale(item: Hashed) -> Iterator[str]:
    yield _with_amounts(item, _stripped)
    for places in range(5):
        yield _with_amounts(item, lambda amount, places=places: _with_places(amount, places))  # type: ignore[misc]


def _with_places(amount: str, places: int) -> str:
    whole, _, fraction = _stripped(amount).partition(".")
    fraction = fraction.ljust(places, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _float_amounts(item: Hashed) -> Iterator[str]:
    yield _with_amounts(item, lambda amount: json.loads(_stripped(amount)))
    yield _with_amounts(item, float)


def _nfd(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFD", value)
    if isinstance(value, Mapping):
        return {key: _nfd(item) for key, item in value.items()}
    return [_nfd(item) for item in value] if isinstance(value, list) else value


def _in_order(item: Hashed) -> Iterator[str]:
    lines = [{name: line[name] for name in LINE_ORDER} for line in item.payload["lines"]]
    head = {name: item.payload[name] for name in HEAD_ORDER} | {"lines": lines}
    yield text_of(head, sort_keys=False)
    yield text_of({"chain": head["chain"]} | {name: value for name, value in head.items() if name != "lines"}
                  | {"lines": lines}, sort_keys=False)  # fmt: skip


def _without_nulls(item: Hashed) -> Iterator[str]:
    lines = [{name: value for name, value in line.items() if value is not None} for line in item.payload["lines"]]
    head = {name: value for name, value in item.payload.items() if value is not None}
    yield text_of({**head, "lines": lines})


TEXTS: dict[str, Callable[[Hashed], Iterable[str]]] = {
    "milliseconds": _milliseconds,
    "zone_offset": _zone_offset,
    "decimal_scale": _decimal_scale,
    "float_amounts": _float_amounts,
    "unicode_nfd": lambda item: (text_of(_nfd(item.payload)),),
    "ascii_escaped": lambda item: (text_of(item.payload, ensure_ascii=True),),
    "key_order": _in_order,
    "white_space": lambda item: (text_of(item.payload, separators=(", ", ": ")),),
    "null_left_out": _without_nulls,
}
"""Those that another text with the stored prev_hash explains, cheap to try."""


def _verifies(item: Hashed, prev_hash: str, text: str) -> bool:
    return sha256(f"{prev_hash}\n{text}".encode("utf-8", "surrogatepass")).hexdigest() == item.stored.entry.hash


def _nine_decimals(item: Hashed) -> bool:
    """One of the 1,000 values that truncate to the stored microsecond, or of the 1,000 that round to it, verifies."""
    mark = "\x00"
    before, after = text_of({**item.payload, "posted_at": mark}).split(json.dumps(mark)[1:-1])
    prefix = sha256(f"{item.stored.entry.prev_hash}\n{before}".encode())
    wanted = item.stored.entry.hash
    for microsecond, nanos in ((0, range(1000)), (-1, range(500, 1000))):
        moment = item.posted_at.replace(tzinfo=None) + timedelta(microseconds=microsecond)
        told = moment.isoformat(timespec="microseconds")
        for nano in nanos:
            tried = prefix.copy()
            tried.update(f"{told}{nano:03d}Z{after}".encode())
            if tried.hexdigest() == wanted:
                return True
    return False


def explanations(item: Hashed, allowed: Iterable[str]) -> frozenset[str]:
    """The names of the transformations under which the entry verifies."""
    names = set(allowed)
    prev_hash = item.stored.entry.prev_hash
    found = {
        name for name, texts in TEXTS.items()
        if name in names and any(_verifies(item, prev_hash, text) for text in texts(item))
    }  # fmt: skip
    if "prev_hash_upper_case" in names and _verifies(item, prev_hash.upper(), text_of(item.payload)):
        found.add("prev_hash_upper_case")
    if not found and "truncate_to_microseconds" in names and _nine_decimals(item):
        found.add("truncate_to_microseconds")
    return frozenset(found)
