"""The canonical form of an entry and its hash, specified so that any language can recompute both.

Version 1
---------
hash = lower-case hex of SHA-256 over the UTF-8 bytes of

    prev_hash (64 lower-case hex digits; 64 zeros for the first entry of a chain)
    one line feed (0x0A)
    canonical_json(payload)

with no byte order mark and no line feed at the end. `payload` is an object with exactly these keys, null where
unknown (a null key and an absent key are different payloads):

    chain            string            name of the book's chain
    version          integer           1
    seq              integer           position in the chain, 1 for the first, rising by 1
    voucher          string
    posted_at        time
    posted_by        string
    posting_date     date
    document_date    date or null
    document_type    string
    document_number  string or null
    text             string
    lines            array, in line order, of objects with exactly
        account            string
        side               "debit" or "credit"
        amount             amount in currency
        currency           the book's currency, ISO 4217
        document_amount    amount in document_currency
        document_currency  ISO 4217
        text               string or null

Canonical JSON is that of RFC 8785 (JCS), narrowed:

* Keys are ASCII, ^[a-z][a-z0-9_]*$, sorted by code point. No white space outside strings. Arrays keep their order.
* Integers only, without sign unless negative, no leading zeros, within +-(2^53 - 1). No floats anywhere.
* Strings are Unicode NFC and otherwise unchanged: no trimming, no case folding, line ends kept. U+0000 and lone
  surrogates are refused. Escaped are only quotation mark and backslash (with a backslash), U+0008, 0009, 000A,
  000C, 000D as \\b \\t \\n \\f \\r, and other characters below U+0020 as \\u00xx in lower-case hex. Not escaped:
  solidus, U+007F, U+2028, U+2029, < > & and everything that is not ASCII.

Forms of values, all strings:

* Amounts: plain notation with exactly the decimals of their currency ("100.00" EUR, "100" JPY, "100.000" KWD),
  '.' as decimal mark, no grouping, no '+', no exponent, at least one digit before the mark, no leading zeros, zero
  never negative. More decimals than the currency has are refused, not rounded, unless they are zeros.
* Rates and quantities: plain notation without trailing zeros after the mark and without a bare mark.
* Times: UTC, YYYY-MM-DDTHH:MM:SS.ffffffZ, six decimals, truncated towards the past before hashing and storing. A
  time without zone is refused. Dates: YYYY-MM-DD.

The writer applies NFC and truncation before it stores, so the stored columns are what was hashed; a verifier rebuilds
the payload from the stored columns. The version is in the payload: an entry is verified by the rules of its own.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import rfc8785

from bookkeeping.ledger.currency import currency_scale

VERSION = 1
GENESIS = "0" * 64
_MAX_DIGITS = 60
_KEY = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,4})?")
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))?", re.ASCII
)


class CanonicalFormError(ValueError):
    """A value that has no canonical form; the message names the value's kind and what is wrong with it."""


def canonical_amount(value: Decimal | str, currency: str) -> str:
    """Text of an amount at its currency's scale.

    Raises CanonicalFormError for a number with more decimals than the currency has, NaN, infinity and what is not a
    number; UnknownCurrency for the currency.
    """
    scale = currency_scale(currency)
    sign, whole, fraction = _plain(value)
    if fraction[scale:].strip("0"):
        raise CanonicalFormError(f"amount {value} has more decimals than {currency} ({scale})")
    fraction = fraction[:scale].ljust(scale, "0")
    return _joined(sign, whole, fraction)


def canonical_rate(value: Decimal | str) -> str:
    """Text of a rate or quantity: plain notation without trailing zeros. Raises CanonicalFormError."""
    sign, whole, fraction = _plain(value)
    return _joined(sign, whole, fraction.rstrip("0"))


def _joined(sign: str, whole: str, fraction: str) -> str:
    text = f"{whole}.{fraction}" if fraction else whole
    return text if not text.strip("0.") else sign + text


def _plain(value: Decimal | str) -> tuple[str, str, str]:
    """Sign ("" or "-"), digits before the mark (a Decimal keeps no leading zeros), digits after it."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise CanonicalFormError(f"amount {value!r} is not a number in plain or exponent notation")
        value = Decimal(value)
    elif not isinstance(value, Decimal):
        raise CanonicalFormError(f"amount is a {type(value).__name__}, not a Decimal")
    if not value.is_finite():
        raise CanonicalFormError(f"amount {value} is not a finite number")
    # Before the notation is unfolded: "1E+9999" would be ten thousand characters.
    if not value:
        value = Decimal(0)
    if abs(value.adjusted()) > _MAX_DIGITS:
        raise CanonicalFormError(f"amount {value} is out of range")
    whole, _, fraction = format(value.copy_abs(), "f").partition(".")
    return "-" if value < 0 else "", whole, fraction


def canonical_time(value: datetime | str) -> str:
    """Text of a point in time: UTC, six decimals, truncated towards the past.

    Takes an aware datetime, or RFC 3339 text with any number of decimals. Raises CanonicalFormError.
    """
    moment = _parsed_time(value) if isinstance(value, str) else value
    if moment.tzinfo is None:
        raise CanonicalFormError(f"time {value} has no time zone")
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        raise CanonicalFormError(f"time {value} is out of range") from None
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _parsed_time(text: str) -> datetime:
    match = _TIME.fullmatch(text)
    if not match:
        raise CanonicalFormError(f"time {text!r} is not RFC 3339")
    *clock, fraction, utc, sign, hours, minutes = match.groups()
    if not utc and not sign:
        raise CanonicalFormError(f"time {text} has no time zone")
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    try:
        year, month, day, hour, minute, second = (int(part) for part in clock)
        microsecond = int((fraction or "")[:6].ljust(6, "0"))
        return datetime(year, month, day, hour, minute, second, microsecond, tzinfo=timezone(offset))
    except ValueError as error:
        raise CanonicalFormError(f"time {text}: {error}") from None


def canonical_date(value: date) -> str:
    """YYYY-MM-DD. A datetime is refused: which day it is depends on a zone. Raises CanonicalFormError."""
    if isinstance(value, datetime):
        raise CanonicalFormError(f"{value} is a time, not a date")
    return value.isoformat()


def canonical_text(value: str) -> str:
    """The text in NFC. Raises CanonicalFormError for U+0000 and lone surrogates."""
    _check_characters(value)
    return unicodedata.normalize("NFC", value)


def _check_characters(value: str) -> None:
    if "\0" in value:
        raise CanonicalFormError("text has the character U+0000")
    if not value.isascii() and re.search("[\ud800-\udfff]", value):
        raise CanonicalFormError("text has a lone surrogate")


def canonical_json(payload: Any) -> bytes:
    """UTF-8 bytes of a payload of objects, arrays, strings, integers, true, false and null.

    Refuses rather than repairs: raises CanonicalFormError for a float, an integer out of range, a key out of form, and
    text that is not NFC. A writer applies `canonical_text` first; a verifier takes the error for a broken entry.
    """
    _check(payload)
    return rfc8785.dumps(payload)


def _check(value: Any) -> None:
    if isinstance(value, str):
        _check_characters(value)
        if not unicodedata.is_normalized("NFC", value):
            raise CanonicalFormError("text is not NFC")
    elif value is None or isinstance(value, bool):
        return
    elif isinstance(value, int):
        if abs(value) >= 2**53:
            raise CanonicalFormError(f"integer {value} is out of range")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str) or not _KEY.fullmatch(key):
                raise CanonicalFormError(f"key {key!r} is not of the form [a-z][a-z0-9_]*")
            _check(item)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for item in value:
            _check(item)
    else:
        raise CanonicalFormError(f"a {type(value).__name__} has no canonical form")


def entry_hash(prev_hash: str, payload: Mapping[str, Any]) -> str:
    """SHA-256 that chains a payload to the entry before it, 64 lower-case hex digits. Raises CanonicalFormError."""
    if not _HASH.fullmatch(prev_hash):
        raise CanonicalFormError("prev_hash is not 64 lower-case hex digits")
    return hashlib.sha256(prev_hash.encode() + b"\n" + canonical_json(payload)).hexdigest()
