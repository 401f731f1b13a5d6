"""The company's records that a reply may use: those that the user may see, the likeliest first."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bookkeeping.agents.clerk.inputs import Company, Earlier, Message, Supplier
from bookkeeping.documents import folded

MOST_RECORDS = 200
FEW_RECORDS = 3
"""How many a model, and a small model, is shown."""

_WORD = re.compile(r"\w+(?:[-./]\w+)*")


@dataclass(frozen=True, slots=True)
class Shown:
    """A record as the model sees it."""

    id: str
    text: str


def look_up(company: Company, message: Message, *, is_small: bool) -> tuple[Shown, ...]:
    """The records for a message; those that share most words with it come first, else in the order of the books."""
    asked = _words(message.text)
    records = sorted(_visible(company, message), key=lambda record: -_likeness(asked, record))
    return tuple(records[: FEW_RECORDS if is_small else MOST_RECORDS])


def _likeness(asked: frozenset[str], record: Shown) -> int:
    """The letters of the words that both have: a long word says more than a short one."""
    return sum(len(word) for word in asked & _words(f"{record.id} {record.text}"))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(folded(text)))


def _visible(company: Company, message: Message) -> Iterator[Shown]:
    user = company.active_user(message.user)
    if user is None:
        return
    for record in company.records:
        if record.about is None or record.about == user.id or "payroll" in user.roles:
            yield Shown(record.id, f"{record.kind}: {record.text}")
    yield from (Shown(supplier.id, _of_supplier(supplier)) for supplier in company.suppliers)
    yield from (Shown(earlier.id, _of_earlier(earlier)) for earlier in company.earlier)


def _of_supplier(supplier: Supplier) -> str:
    blocked = ", blocked" if supplier.blocked else ""
    accounts = f", bank accounts {', '.join(supplier.bank_accounts)}" if supplier.bank_accounts else ""
    return f"supplier: {supplier.name}{accounts}{blocked}"


def _of_earlier(earlier: Earlier) -> str:
    stated = {
        "supplier": earlier.supplier,
        "number": earlier.number,
        "date": earlier.date,
        "gross": None if earlier.gross is None else f"{earlier.gross:f} {earlier.currency or ''}".strip(),
    }
    told = ", ".join(f"{name} {value}" for name, value in stated.items() if value is not None)
    return f"submission: {earlier.doc_type}, {told or 'nothing stated'}, decision {earlier.decision}"
