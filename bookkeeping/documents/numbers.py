"""Numbers as documents write them: which mark is the decimal one, what groups are valid, where the sign stands.

A number is refused, never guessed, when its groups are none (``11,11.11``, ``10.999.99``). One mark followed by three
digits (``1.234``) can be either; it is decided by, in this order, the document's own mark, the number of decimals of
the currency, and what is usual: a comma groups, a point does not.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from bookkeeping.documents.currencies import currency_beside
from bookkeeping.documents.unread import Unread
from bookkeeping.documents.written import plain

Mark = Literal[".", ","]

_SPACED = r"\d{1,3}(?: \d{3})+(?:[.,\u066b]\d+)?(?![\d'])"
_UNSPACED = r"\d(?:[\d.,'\u066b]*\d)?|(?<![\d.,])[.,]\d+"
SPACED = re.compile(rf"(?<![\d.,']){_SPACED}|{_UNSPACED}")
"""Number tokens, where a space between groups of three joins them."""
UNSPACED = re.compile(_UNSPACED)
"""Number tokens that end at a space."""

_DASHES_FOR_CENTS = re.compile(r"(?<=\d)[.,:]-{1,2}(?!\d)")
_DOLLAR_FOR_POINT = re.compile(r"(?<=\d)\$(?=\d\d(?!\d))")
_MT940_BALANCE = re.compile(r"([CD])\d{6}([A-Z]{3})([\d,]+)")
_CREDIT = re.compile(r"(?:CR|CRDT|CREDIT|HABEN)\.?", re.IGNORECASE)
_DEBIT = re.compile(r"(?:DR|DBIT|DEBIT|SOLL)\.?", re.IGNORECASE)
_SHORT_CREDIT = re.compile(r"[CH]|RD")
_SHORT_DEBIT = re.compile(r"[DS]|RC")
_LETTERS = re.compile(r"[^\W\d_]+\.?")


@dataclass(frozen=True, slots=True)
class NumberHabits:
    """How a document writes numbers. ``decimal_mark``: the mark that its clear numbers have, None when they differ.

    ``minor_digits``: decimals of the currency, None when it is not known. ``is_account``: amounts are movements and
    balances of an account of ours, so a mark for credit is positive and one for debit negative; elsewhere a mark for
    credit makes an amount negative.
    """

    decimal_mark: Mark | None = None
    minor_digits: int | None = None
    is_account: bool = False


def read_number(written: str, habits: NumberHabits = NumberHabits()) -> Decimal | Unread:
    """The number that ``written`` states, with its sign and with the decimals that are printed.

    Of several numbers it is the one beside a currency, else the first. An amount of the kind ``15,-`` has no cents.
    """
    text = _DOLLAR_FOR_POINT.sub(".", _DASHES_FOR_CENTS.sub("", plain(written).strip()))
    if habits.is_account and (balance := _MT940_BALANCE.fullmatch(text)):
        mark, currency, amount = balance.groups()
        text = f"{currency} {amount} {mark}"
    found = list(SPACED.finditer(text))
    if not found:
        return Unread("no_number", written)
    chosen = next((match for match in found if currency_beside(text, match.start(), match.end())), found[0])
    beside = currency_beside(text, chosen.start(), chosen.end())
    minor_digits = beside.minor_digits if beside else habits.minor_digits
    value = interpret(chosen.group(), habits.decimal_mark, minor_digits)
    if value is None:
        return Unread("malformed_number", written)
    sign = _sign(text[: chosen.start()], text[chosen.end() :], is_account=habits.is_account)
    return -value if sign < 0 else value


def interpret(token: str, decimal_mark: Mark | None = None, minor_digits: int | None = None) -> Decimal | None:
    """The value of a number token without a sign; None when its groups are not valid."""
    if "\u066b" in token:
        head, _, tail = token.partition("\u066b")
        return _joined(head, next((mark for mark in "'.," if mark in head), "'"), tail)
    marks = [character for character in token if character in ".,"]
    if not marks:
        return _joined(token, " " if " " in token else "'", "")
    last = marks[-1]
    head, _, tail = token.rpartition(last)
    other = "," if last == "." else "."
    if other in head:
        return None if last in head else _joined(head, other, tail)
    if last in head:
        return _joined(token, last, "")
    if "'" in head or " " in head:
        return _joined(head, "'" if "'" in head else " ", tail)
    if _is_decimal(head, tail, last, decimal_mark, minor_digits):
        return _joined(head, "'", tail)
    return _joined(token, last, "")


def is_either(token: str) -> bool:
    """Whether the token's one mark can be read both ways (``1.234``)."""
    return re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", token) is not None


def _is_decimal(head: str, tail: str, mark: str, decimal_mark: Mark | None, minor_digits: int | None) -> bool:
    if not is_either(f"{head}{mark}{tail}"):
        return True
    if decimal_mark is not None:
        return mark == decimal_mark
    if minor_digits is not None:
        return minor_digits == 3
    return mark == "."


def _joined(head: str, separator: str, tail: str) -> Decimal | None:
    groups = head.split(separator)
    if not all(group.isdecimal() for group in groups if group) or (tail and not tail.isdecimal()):
        return None
    if len(groups) > 1 and not _are_groups([len(group) for group in groups], by_comma=separator == ","):
        return None
    whole = "".join(groups) or "0"
    return Decimal(f"{whole}.{tail}" if tail else whole)


def _are_groups(lengths: list[int], *, by_comma: bool) -> bool:
    """Groups of three, or those of India: two digits, but three at the end, always with commas."""
    first, *middle, last = lengths
    western = 1 <= first <= 3 and all(length == 3 for length in middle)
    indian = by_comma and 1 <= first <= 2 and bool(middle) and all(length == 2 for length in middle)
    return last == 3 and (western or indian)


def _sign(before: str, after: str, *, is_account: bool) -> int:
    if "(" in before and ")" in after and ")" not in before:
        return -1
    marked = _marked(before, after, is_account=is_account)
    minus = _has_minus(before, after)
    if marked is not None:
        return marked if not minus else -1
    return -1 if minus else 1


def _has_minus(before: str, after: str) -> bool:
    """A minus at the very start, beside the number or its currency, or behind the number."""
    lead = before.rstrip()
    if lead.startswith("-") or lead.endswith("-") or re.search(r"(?:^|\s)-\s?\S{1,4}$", lead):
        return True
    return re.match(r"-(?!\d)| -\s*(?:$|[^\W\d_]{2,4}$)| ?(?:[^\W\d_]{1,4}|[^\w\s.,-])-(?:$|\s)", after) is not None


def _marked(before: str, after: str, *, is_account: bool) -> int | None:
    """+1 or -1 by a mark for credit or debit beside the number."""
    around = _LETTERS.findall(before)[-1:] + _LETTERS.findall(after)
    for word in around:
        if _CREDIT.fullmatch(word) or (is_account and _SHORT_CREDIT.fullmatch(word)):
            return 1 if is_account else -1
        if _DEBIT.fullmatch(word) or (is_account and _SHORT_DEBIT.fullmatch(word)):
            return -1 if is_account else 1
    return None


def indicated_sign(indicator: str) -> int | None:
    """+1 for a mark of credit (C, H, CR, CRDT, RD), -1 for one of debit (D, S, DR, DBIT, RC), else None."""
    word = plain(indicator).strip()
    return _marked("", word, is_account=True)
