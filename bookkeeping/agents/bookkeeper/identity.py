"""What makes two records the same one: the idempotency key (general.idempotency).

direction + kind + issuer + number + date + event. The fine document type is not in it, so a bill read once as a
utility bill and once as a supplier invoice is one bill. Three kinds of record have another identity:

* a statement line is its account, its statement and its position in it;
* a record that names the bank's reference of a movement is that movement, so that the statement line and the payment
  document for it are posted once between them;
* a reversal is the entry that it reverses, so that an entry is reversed once.

A record without a document number cannot be told from another by it: its figures and text take the number's place.
"""

import hashlib
import unicodedata
from typing import Final

from bookkeeping.agents.bookkeeper.lines import ComputedLine
from bookkeeping.agents.bookkeeper.rule_file import Direction
from bookkeeping.agents.bookkeeper.select import Choice

MONEY: Final = frozenset({"1010", "1020", "1030", "1040", "1050", "1060", "2060"})
_BY_ROLE: Final[dict[str, Direction]] = {
    "issued": "issued",
    "issuer": "issued",
    "received": "received",
    "receiver": "received",
}


def key_of(choice: Choice, lines: tuple[ComputedLine, ...]) -> str:
    """The idempotency key of a record in its book."""
    record, rule = choice.understood.record, choice.rule
    if record.movement is not None:
        return _joined("movement", _money_account(lines), record.movement)
    if rule.kind == "statement":
        return _joined("statement", _money_account(lines), record.number or "", record.event or _digest(choice))
    direction = _direction(choice)
    own = choice.understood.terms.company if direction == "issued" else ""
    return _joined(
        direction,
        rule.kind,
        _party(record.issuer_tax_number or record.issuer or own),
        record.number or _digest(choice),
        record.date.isoformat() if record.date else "",
        record.event or _stage(choice),
    )


def key_of_reversal(seq: int) -> str:
    """The key of the reversal of the entry at position ``seq`` in the book's chain."""
    return _joined("reversal", str(seq))


def normal(text: str) -> str:
    """NFC, without surrounding or doubled spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _joined(*parts: str) -> str:
    return ":".join(normal(part).replace("\\", "\\\\").replace(":", "\\:") for part in parts)


def _party(name: str) -> str:
    return normal(normal(name).casefold())


def _direction(choice: Choice) -> Direction:
    """Who issued the document: as its type says, unless it is one that goes both ways and the record says which."""
    for fact in ("direction", "role"):
        stated = _BY_ROLE.get(choice.understood.facts.get(fact, ""))
        if stated is not None:
            return stated
    return choice.rule.direction


def _stage(choice: Choice) -> str:
    """The stage of a document that is booked in stages: its event fact, the month of a schedule."""
    month = choice.understood.amounts.get("month_no")
    return str(month) if month is not None else choice.understood.facts.get("event", "")


def _money_account(lines: tuple[ComputedLine, ...]) -> str:
    return next((line.account for line in lines if line.account in MONEY), "")


def _digest(choice: Choice) -> str:
    record = choice.understood.record
    content = record.model_dump_json(include={"doc_type", "text", "amounts", "stated", "categories", "facts", "lines"})
    return "unnumbered " + hashlib.sha256(content.encode()).hexdigest()[:32]
