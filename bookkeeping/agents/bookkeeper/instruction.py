"""Free text: an instruction in words becomes the typed record that the rest of the graph works on.

The model reads and nothing else. It copies what is written; what it copied is read as figures and days here, must stand
in the instruction, and is put where the rules look for it. No account, no treatment and no arithmetic is its choice. A
figure that is missing, cannot be read or is not written there ends in a refusal, as on paper.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date as Day
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final

from bookkeeping.agents.bookkeeper import rulebook
from bookkeeping.agents.bookkeeper.record import Instruction, Record
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.documents import (
    Evidence,
    Kind,
    Source,
    Unread,
    evidence_of,
    plain,
    read_currency,
    read_date,
    read_number,
)
from bookkeeping.documents.currencies import minor_digits
from bookkeeping.models import Model, Request, object_schema

MAX_TOKENS: Final = 4_000
ISSUED: Final = frozenset({"sales_invoice"})
RECEIVED: Final = frozenset({"rent_invoice", "supplier_invoice", "utility_bill"})
KINDS: Final = (*sorted(ISSUED | RECEIVED), "expense_receipt", "nothing", "unclear")
VAT: Final = ("added", "included", "none", "not_stated")
MEANS: Final = ("cash", "petty_cash", "bank", "company_card", "employee")


@dataclass(frozen=True, slots=True)
class _Read:
    """What the model copied, with what the instruction has to compare it with."""

    told: Mapping[str, str]
    text: str
    evidence: Evidence
    source: Source

    def number(self, name: str) -> Decimal | Refused | None:
        """The number copied under ``name``; None when there is none."""
        written = self.told[name].strip()
        if not written:
            return None
        value = read_number(written, self.evidence.numbers(_digits(self.told["currency"], self.evidence)))
        if isinstance(value, Unread):
            return Refused("missing_input", f"{name} cannot be read: {written!r}.")
        if not (self.source.has(Kind.AMOUNT, value) and _is_whole(written, self.text)):
            return Refused("missing_input", f"{name} {written!r} is not written in the instruction.")
        return value

    def day(self, given: Day) -> Day | Refused:
        """The day that the text names, in the year of the instruction where it names none."""
        written = self.told["date"].strip()
        if not written:
            return given
        whole_year = (Day(given.year, 1, 1), Day(given.year, 12, 31))
        found = read_date(written, replace(self.evidence.dates, span=whole_year))
        if isinstance(found, Unread):
            return Refused("missing_input", f"The date cannot be read: {written!r}.")
        return found


def _is_whole(written: str, text: str) -> bool:
    """Whether the text has the number as it was copied, and not as the end or beginning of a longer one."""
    digits = re.search(r"\d(?:.*\d)?", plain(written))
    if digits is None:
        return False
    apart = rf"(?<!\d)(?<!\d[ .,'’]){re.escape(digits.group())}(?![ .,'’]?\d)"
    return re.search(apart, plain(text)) is not None


def interpret(model: Model, instruction: Instruction, company: str, currency: str) -> Record | Refused:
    """The record that an instruction asks for, or why there is none. Raises a ModelError."""
    evidence = evidence_of(instruction.text)
    read = _Read(_ask(model, instruction, company), instruction.text, evidence, Source(instruction.text, evidence))
    kind = read.told["kind"]
    if kind == "nothing":
        return Refused("non_posting_type", "The instruction names no event that is booked.")
    if kind == "unclear":
        return Refused("unsupported_combination", "The instruction is for a person to decide.")
    day = read.day(instruction.date)
    if isinstance(day, Refused):
        return day
    figures = _figures(read, kind, instruction, currency)
    if isinstance(figures, Refused):
        return figures
    party = read.told["party"].strip() or None
    common = {"doc_type": kind, "date": day, "text": instruction.text, "number": read.told["number"].strip() or None}
    return Record(
        **common,
        issuer=company if kind in ISSUED else party,
        currency=_currency(read),
        **figures,
    )


def request(instruction: Instruction, company: str) -> Request:
    """What the model is asked about an instruction."""
    text = instruction.text.replace("</instruction", "< /instruction")
    question = f"We are {company}; today is {instruction.date}. Which record is to be booked?"
    return Request(_guide(), (f"<instruction>\n{text}\n</instruction>", question), _schema(), MAX_TOKENS)


def _ask(model: Model, instruction: Instruction, company: str) -> Mapping[str, str]:
    answer: Mapping[str, str] = model.complete(request(instruction, company)).value
    return answer


def _figures(read: _Read, kind: str, instruction: Instruction, currency: str) -> dict[str, Any] | Refused:
    """Amounts, facts, categories and stated totals by the names of the rules."""
    net, gross, rate = read.number("net"), read.number("gross"), read.number("vat_rate")
    for value in (net, gross, rate):
        if isinstance(value, Refused):
            return value
    if net is None and gross is None:
        return Refused("missing_input", "The instruction states no amount.")
    vat = read.told["vat"]
    if vat in ("added", "included") and rate is None:
        rate = instruction.standard_rate
    if vat in ("added", "included") and rate is None:
        return Refused("missing_input", "The instruction states no VAT rate, and the company has no standard one.")
    if kind == "expense_receipt":
        return _of_receipt(read, gross if gross is not None else net, rate, vat)
    if vat == "not_stated":
        return Refused("missing_input", "The instruction does not say whether VAT comes on top of the amount.")
    return _of_invoice(read, kind, net, gross, Decimal(0) if vat == "none" else rate, _scale(read, currency))


def _of_receipt(read: _Read, gross: Any, rate: Any, vat: str) -> dict[str, Any] | Refused:
    means = read.told["paid_by"]
    if not means:
        return Refused("missing_input", "The instruction does not say how the receipt was paid.")
    shows_vat = vat in ("added", "included")
    return {
        "amounts": {"gross": gross, "rate": rate} if shows_vat else {"gross": gross},
        "facts": {"vat_details": "valid" if shows_vat else "none"},
        "categories": {"money": means, **_category(read, "expense")},
    }


def _of_invoice(read: _Read, kind: str, net: Any, gross: Any, rate: Any, scale: int) -> dict[str, Any]:
    stated: dict[str, Decimal] = {}
    if net is None:
        net = (gross * 100 / (100 + rate)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        stated = {"gross": gross}
    figures: dict[str, Any] = {"amounts": {"net": net, "rate": rate}, "stated": stated}
    if kind == "rent_invoice":
        return {**figures, "facts": {"lease": "off_balance"}}
    if kind == "supplier_invoice":
        return {**figures, "categories": _category(read, "expense")}
    if kind == "sales_invoice":
        amounts = {"net": net, "rate": rate} if rate else {"net": net}
        facts = {"tax": "one_rate" if rate else "none"}
        return {**figures, "amounts": amounts, "facts": facts, "categories": _category(read, "revenue")}
    return figures


def _category(read: _Read, name: str) -> dict[str, str]:
    return {name: read.told[name]} if read.told[name] else {}


def _currency(read: _Read) -> str | None:
    found = read_currency(read.told["currency"], read.evidence.mentioned)
    return found if isinstance(found, str) and read.source.has(Kind.CURRENCY, found) else None


def _digits(written: str, evidence: Evidence) -> int | None:
    code = read_currency(written, evidence.mentioned)
    return minor_digits(code) if isinstance(code, str) else None


def _scale(read: _Read, currency: str) -> int:
    return minor_digits(_currency(read) or currency)


def _schema() -> dict[str, Any]:
    maps = rulebook.rulebook().general.maps
    free = {"type": "string", "maxLength": 60}
    properties: dict[str, dict[str, Any]] = {
        "kind": {"type": "string", "enum": list(KINDS)},
        "party": {**free, "description": "the supplier, landlord, shop or customer"},
        "number": {**free, "description": "the number of the invoice"},
        "date": {**free, "description": "the day of the invoice or receipt, not the day on which it is due"},
        "net": {**free, "maxLength": 20},
        "gross": {**free, "maxLength": 20},
        "vat": {"type": "string", "enum": list(VAT)},
        "vat_rate": {**free, "maxLength": 8, "description": "in per cent"},
        "currency": {**free, "maxLength": 8},
        "expense": {"type": "string", "enum": ["", *_keys(maps, "expense")]},
        "revenue": {"type": "string", "enum": ["", *_keys(maps, "revenue")]},
        "paid_by": {"type": "string", "enum": ["", *MEANS]},
    }
    return object_schema(**properties)


def _keys(maps: Mapping[str, Mapping[str, str]], name: str) -> list[str]:
    return sorted(maps[name].keys() - {"default"})


@cache
def _guide() -> str:
    return files(__package__).joinpath("instruction.md").read_text("utf-8").strip()
