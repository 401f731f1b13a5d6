"""Reads plain-text journals: the syntax that ledger and howeyc's ledger share, and beancount's.

Read is what decides balances: dated transactions, postings with a quantity, a cost or a price, one posting that may be
left blank, ``pad`` with its ``balance``. Automated and periodic transactions are left out (they are budgets and virtual
postings, which ``ledger --real`` leaves out too).
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

Balances = dict[tuple[str, str], Decimal]
"""By account and commodity."""

_LEDGER_DATE = re.compile(r"(\d{4})[/-](\d\d?)[/-](\d\d?)(?:=[0-9/-]+)?\s+(?:[*!]\s+)?(?:\([^)]*\)\s*)?(.*)")
_BEAN_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)\s+(\S+)\s*(.*)")
_NUMBER = r"-?\d[\d,]*(?:\.\d+)?|-?\.\d+"
_AMOUNT = re.compile(
    rf"(?:(?P<before>-?[^\d\s.,;@{{-]+)\s*(?P<n1>{_NUMBER})|(?P<n2>{_NUMBER})\s*(?P<after>[^\d\s;@{{,-]+)?)"
)


class CannotRead(ValueError):
    """A line that is none of what is read; the message has its number."""


@dataclass(frozen=True, slots=True)
class Posting:
    """One line: quantity of a commodity, and its weight (at cost or price), which balances the transaction."""

    account: str
    quantity: Decimal | None
    commodity: str
    weight: Decimal | None = None
    weight_commodity: str = ""


@dataclass(frozen=True, slots=True)
class Transaction:
    """A dated transaction; no posting is blank."""

    day: date
    text: str
    postings: tuple[Posting, ...]


def amount(text: str) -> tuple[Decimal, str]:
    """Quantity and commodity of an amount such as ``$-1,000.00``, ``-44 GLD`` or ``5``. Raises CannotRead."""
    match = _AMOUNT.fullmatch(text.strip())
    if not match:
        raise CannotRead(f"amount {text!r}")
    before, number = match["before"] or "", match["n1"] or match["n2"]
    sign = -1 if before.startswith("-") else 1
    return sign * Decimal(number.replace(",", "")), before.lstrip("-").strip() or match["after"] or ""


def weighed(account: str, text: str) -> Posting:
    """A posting from its amount with cost ``{}``, price ``@`` or total ``@@``; cost counts where both stand."""
    cost = re.search(r"\{([^}#,]+)[^}]*\}", text)
    price = re.search(r"(@@?)\s*(.+)$", text)
    quantity, commodity = amount(re.split(r"[{@]", text)[0])
    if cost:
        each, currency = amount(cost[1])
        return Posting(account, quantity, commodity, quantity * each, currency)
    if price:
        each, currency = amount(price[2])
        total = each.copy_sign(quantity) if price[1] == "@@" else quantity * each
        return Posting(account, quantity, commodity, total, currency)
    return Posting(account, quantity, commodity, quantity, commodity)


def completed(postings: list[Posting]) -> tuple[Posting, ...]:
    """The postings with the blank one filled: one for each commodity in which the others do not balance."""
    left: dict[str, Decimal] = defaultdict(Decimal)
    for posting in postings:
        if posting.weight is not None:
            left[posting.weight_commodity] += posting.weight
    filled: list[Posting] = []
    for posting in postings:
        if posting.quantity is not None:
            filled.append(posting)
        else:
            filled += [Posting(posting.account, -rest, unit, -rest, unit) for unit, rest in left.items() if rest]
    return tuple(filled)


def read_ledger(text: str) -> Iterator[Transaction]:
    """The transactions of a ledger journal. Raises CannotRead."""
    head: tuple[date, str] | None = None
    postings: list[Posting] = []
    for number, line in enumerate([*text.splitlines(), "end"], 1):
        if head and line[:1].isspace() and line.strip():
            posting = _ledger_posting(line, number)
            postings += [posting] if posting else []
        elif line.strip():
            if head and postings:
                yield Transaction(*head, completed(postings))
            match = _LEDGER_DATE.match(line)
            head = (date(int(match[1]), int(match[2]), int(match[3])), match[4]) if match else None
            postings = []


def _ledger_posting(line: str, number: int) -> Posting | None:
    """None for a comment, a date or a virtual posting."""
    body = re.sub(r"\s+;.*|^;.*", "", line.strip()) if not line.strip().startswith(";") else ""
    body = re.sub(r"^[*!]\s+", "", body)
    if not body or body.startswith(("(", "[")):
        return None
    account, _, told = re.sub(r"\s*\t\s*|\s{2,}", "\0", body, count=1).partition("\0")
    try:
        return weighed(account, told) if told.strip() else Posting(account, None, "")
    except CannotRead as error:
        raise CannotRead(f"line {number}: {error}") from None


def read_beancount(text: str) -> Iterator[Transaction]:
    """The transactions of a beancount journal by date, with those that its pads stand for. Raises CannotRead."""
    made: list[Transaction] = []
    pads: list[tuple[date, str, str]] = []
    checks: list[tuple[date, str, Decimal, str]] = []
    head: tuple[date, str] | None = None
    postings: list[Posting] = []
    for number, line in enumerate([*text.splitlines(), "end"], 1):
        if head and line[:1].isspace() and line.strip():
            posting = _beancount_posting(line, number)
            postings += [posting] if posting else []
            continue
        if head:
            made.append(Transaction(*head, completed(postings)))
        head, postings = None, []
        match = _BEAN_DATE.match(line)
        if not match:
            continue
        day, kind, rest = date(int(match[1]), int(match[2]), int(match[3])), match[4], match[5]
        if kind in ("*", "!", "txn", "P"):
            head = (day, rest)
        elif kind == "pad":
            pads.append((day, *rest.split()[:2]))
        elif kind == "balance":
            account, told = rest.split(maxsplit=1)
            checks.append((day, account, *amount(told)))
    for pad in pads:
        made += _padding(pad, checks, made)
    return iter(sorted(made, key=lambda item: item.day))


def _beancount_posting(line: str, number: int) -> Posting | None:
    """None for a comment or a line of metadata."""
    body = re.sub(r"\s*;.*", "", line.strip())
    match = re.match(r"(?:[*!A-Z]\s+)?([A-Z][\w-]*(?::[\w-]+)+)\s*(.*)$", body)
    if not match:
        return None
    try:
        return weighed(match[1], match[2]) if match[2] else Posting(match[1], None, "")
    except CannotRead as error:
        raise CannotRead(f"line {number}: {error}") from None


def _padding(
    pad: tuple[date, str, str], checks: list[tuple[date, str, Decimal, str]], made: list[Transaction]
) -> list[Transaction]:
    """What the first balance of each commodity after a pad asks for."""
    day, account, source = pad
    found: dict[str, Transaction] = {}
    for on, checked, wanted, unit in sorted(checks):
        if checked != account or on <= day or unit in found:
            continue
        before = sum(
            (posting.quantity or Decimal(0) for item in made if item.day < on for posting in item.postings
             if posting.account == account and posting.commodity == unit), Decimal(0),
        )  # fmt: skip
        moved = Posting(account, wanted - before, unit, wanted - before, unit)
        back = replace(moved, account=source, quantity=before - wanted, weight=before - wanted)
        found[unit] = Transaction(day, "pad", (moved, back))
    return [item for item in found.values() if item.postings[0].quantity]


def balances(transactions: Iterator[Transaction]) -> Balances:
    """The trial balance in quantities, by account and commodity; what came to zero is left out."""
    totals: Balances = defaultdict(Decimal)
    for item in transactions:
        for posting in item.postings:
            totals[posting.account, posting.commodity] += posting.quantity or 0
    return {key: total for key, total in totals.items() if total}
