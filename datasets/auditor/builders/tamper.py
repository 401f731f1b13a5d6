"""What somebody with the rights of the database's owner could do to a book, and what a faulty writer would have done.

An operation is an object with ``op`` and its arguments; it takes the rows and returns those that end up in the tables.
"""

import copy
import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from bookkeeping.ledger.canonical import canonical_amount, canonical_json, canonical_time

from .draft import only


@dataclass
class Row:
    """One entry as its rows: columns of ledger.entries, and of ledger.lines in order."""

    head: dict[str, Any]
    lines: list[dict[str, Any]]


HEAD = ("version", "seq", "voucher", "posted_at", "posted_by", "posting_date", "document_date", "document_type",
        "document_number", "text")  # fmt: skip
LINE = ("account", "side", "amount", "currency", "document_amount", "document_currency", "text")


def payload(row: Row, chain: str) -> dict[str, Any]:
    """The payload of a row, keys in the order of the specification's table."""
    head: dict[str, Any] = {"chain": chain} | {name: row.head[name] for name in HEAD}
    head["posted_at"] = canonical_time(head["posted_at"])
    head["posting_date"] = head["posting_date"].isoformat()
    head["document_date"] = head["document_date"] and head["document_date"].isoformat()
    return head | {"lines": [_line(line) for line in row.lines]}


def _line(line: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: line[name] for name in LINE}
    values["amount"] = canonical_amount(values["amount"], values["currency"])
    values["document_amount"] = canonical_amount(values["document_amount"], values["document_currency"])
    return values


def digest(prev_hash: str, text: bytes) -> str:
    """The chain's hash over a text."""
    return hashlib.sha256(prev_hash.encode() + b"\n" + text).hexdigest()


def rehash(rows: Sequence[Row], chain: str) -> None:
    """Gives the first row a new hash over its content, and links and hashes the others anew behind it."""
    before: Row | None = None
    for row in rows:
        if before is not None:
            row.head["prev_hash"] = before.head["hash"]
        row.head["hash"] = digest(row.head["prev_hash"], canonical_json(payload(row, chain)))
        before = row


def tampered(rows: list[Row], chain: str, operations: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows after all operations. Raises KeyError for an operation that does not exist."""
    for operation in operations:
        rows = OPERATIONS[operation["op"]](rows, chain, operation)
    return rows


def _at(rows: Sequence[Row], seq: int) -> int:
    return next(index for index, row in enumerate(rows) if row.head["seq"] == seq)


def change(rows: list[Row], _chain: str, how: Mapping[str, Any]) -> list[Row]:
    """Another value in a column, hashes left: of the head (``head``), or an amount of the lines (``amounts``)."""
    only(how, "op", "seq", "head", "amounts", "accounts")
    row = rows[_at(rows, how["seq"])]
    row.head |= how.get("head", {})
    for line_no, amount in how.get("amounts", {}).items():
        row.lines[int(line_no) - 1] |= {"amount": Decimal(amount), "document_amount": Decimal(amount)}
    for line_no, account in how.get("accounts", {}).items():
        row.lines[int(line_no) - 1]["account"] = account
    return rows


def rehash_rows(rows: list[Row], chain: str, how: Mapping[str, Any]) -> list[Row]:
    """New hashes from a row to another, or to the end."""
    only(how, "op", "from", "to")
    last = _at(rows, how["to"]) + 1 if "to" in how else len(rows)
    rehash(rows[_at(rows, how["from"]) : last], chain)
    return rows


def delete(rows: list[Row], _chain: str, how: Mapping[str, Any]) -> list[Row]:
    """Rows taken out."""
    only(how, "op", "seqs")
    return [row for row in rows if row.head["seq"] not in how["seqs"]]


def swap(rows: list[Row], _chain: str, how: Mapping[str, Any]) -> list[Row]:
    """The rows at ``seqs`` get the positions of ``become``; hashes and links left."""
    only(how, "op", "seqs", "become")
    moved = {seq: rows[_at(rows, seq)] for seq in how["seqs"]}
    for seq, become in zip(how["seqs"], how["become"], strict=True):
        for part in (moved[seq].head, *moved[seq].lines):
            part["seq"] = become
    return sorted(rows, key=lambda row: row.head["seq"])


def branch(rows: list[Row], chain: str, how: Mapping[str, Any]) -> list[Row]:
    """``rows`` new entries that follow the row at ``after``, which has a successor already (or is the genesis at 0)."""
    only(how, "op", "after", "rows")
    link = rows[_at(rows, how["after"])].head["hash"] if how["after"] else "0" * 64
    for _ in range(how["rows"]):
        row = copy.deepcopy(rows[-1])
        seq = row.head["seq"] + 1
        row.head |= {"seq": seq, "voucher": f"V-{seq:06d}", "key": f"branch-{seq}", "prev_hash": link}
        for line in row.lines:
            line["seq"] = seq
        rehash([row], chain)
        link = row.head["hash"]
        rows = [*rows, row]
    return rows


def form(rows: list[Row], chain: str, how: Mapping[str, Any]) -> list[Row]:
    """Hashes as a writer with another canonical form would have made them, from a row to another."""
    only(how, "op", "form", "from", "to", "zone")
    first, last = _at(rows, how.get("from", 1)), (_at(rows, how["to"]) + 1 if "to" in how else len(rows))
    before = rows[first - 1].head["hash"] if first else "0" * 64
    for row in rows[first:]:
        row.head["prev_hash"] = before
        if row.head["seq"] > rows[last - 1].head["seq"]:
            rehash([row], chain)
        else:
            link = before.upper() if how["form"] == "prev_hash_upper_case" else before
            row.head["hash"] = digest(link, FORMS[how["form"]](row, chain, how))
        before = row.head["hash"]
    return rows


def _json(value: Any, **options: Any) -> bytes:
    settings: dict[str, Any] = {"sort_keys": True, "ensure_ascii": False, "separators": (",", ":")}
    return json.dumps(value, **(settings | options)).encode()


def _with_time(row: Row, chain: str, text: Callable[[datetime], str]) -> bytes:
    return _json(payload(row, chain) | {"posted_at": text(row.head["posted_at"])})


def _nanoseconds(moment: datetime) -> str:
    """Nine decimals, of which the column keeps six by cutting."""
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}789Z"


def _nanoseconds_rounded(moment: datetime) -> str:
    """Nine decimals that round up to the stored microsecond."""
    return f"{moment - timedelta(microseconds=1):%Y-%m-%dT%H:%M:%S.%f}600Z"


def _milliseconds(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}{f'.{moment.microsecond // 1000:03d}' if moment.microsecond >= 1000 else ''}Z"


def _with_amounts(row: Row, chain: str, told: Callable[[str], Any], **options: Any) -> bytes:
    values = payload(row, chain)
    for line in values["lines"]:
        line |= {name: told(line[name]) for name in ("amount", "document_amount")}
    return _json(values, **options)


def _number(amount: str) -> int | float:
    return int(float(amount)) if float(amount).is_integer() else float(amount)


def _no_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _no_nulls(item) for key, item in value.items() if item is not None}
    return [_no_nulls(item) for item in value] if isinstance(value, list) else value


FORMS: dict[str, Callable[[Row, str, Mapping[str, Any]], bytes]] = {
    "truncate_to_microseconds": lambda row, chain, _: _with_time(row, chain, _nanoseconds),
    "round_to_microseconds": lambda row, chain, _: _with_time(row, chain, _nanoseconds_rounded),
    "milliseconds": lambda row, chain, _: _with_time(row, chain, _milliseconds),
    "zone_offset": lambda row, chain, how: _with_time(
        row, chain, lambda moment: moment.astimezone(ZoneInfo(how["zone"])).isoformat(timespec="microseconds")
    ),
    "decimal_scale": lambda row, chain, _: _with_amounts(
        row, chain, lambda text: text.rstrip("0").rstrip(".") if "." in text else text
    ),
    "float_amounts": lambda row, chain, _: _with_amounts(row, chain, _number),
    "unicode_nfd": lambda row, chain, _: unicodedata.normalize("NFD", _json(payload(row, chain)).decode()).encode(),
    "ascii_escaped": lambda row, chain, _: _json(payload(row, chain), ensure_ascii=True),
    "key_order": lambda row, chain, _: _json(payload(row, chain), sort_keys=False),
    "white_space": lambda row, chain, _: _json(payload(row, chain), separators=(", ", ": ")),
    "null_left_out": lambda row, chain, _: _json(_no_nulls(payload(row, chain))),
    "prev_hash_upper_case": lambda row, chain, _: _json(payload(row, chain)),
    "pipes": lambda row, chain, _: "|".join(str(value) for value in payload(row, chain).values()).encode(),
}
"""By name. ``pipes`` is a form that no list of transformations has."""

OPERATIONS: dict[str, Callable[[list[Row], str, Mapping[str, Any]], list[Row]]] = {
    "change": change, "rehash": rehash_rows, "delete": delete, "swap": swap, "branch": branch, "form": form,
}  # fmt: skip
