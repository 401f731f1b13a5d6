"""The canonical form: the published vectors, the published examples, and what holds for every value."""

import hashlib
import json
import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookkeeping.ledger.canonical import (
    GENESIS,
    CanonicalFormError,
    canonical_amount,
    canonical_date,
    canonical_json,
    canonical_rate,
    canonical_text,
    canonical_time,
    entry_hash,
)
from bookkeeping.ledger.currency import UnknownCurrency, currency_scale

PUBLISHED = json.loads(Path(__file__).with_name("canonical_vectors.json").read_text("utf-8"))
VECTORS = PUBLISHED["test_vectors"]
EXAMPLES = PUBLISHED["normalisation_examples"]


def canonical(example: dict[str, str]) -> str:
    if example["kind"] == "amount":
        return canonical_amount(example["given"], example["currency"])
    if example["kind"] == "time":
        return canonical_time(example["given"])
    text = "".join(chr(int(point, 16)) for point in example["given_code_points"].split())
    return canonical_json(canonical_text(text)).decode()


def test_all_published_vectors_and_examples_are_here() -> None:
    assert (len(VECTORS), len(EXAMPLES)) == (5, 16)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"seq-{vector['payload']['seq']}")
def test_a_published_vector_gives_its_text_and_its_hash(vector: dict) -> None:
    assert canonical_json(vector["payload"]).decode() == vector["canonical_json"]
    assert entry_hash(vector["prev_hash"], vector["payload"]) == vector["hash"]


def test_the_published_vectors_are_one_chain() -> None:
    assert VECTORS[0]["prev_hash"] == GENESIS
    assert [v["prev_hash"] for v in VECTORS[1:]] == [v["hash"] for v in VECTORS[:-1]]


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e["canonical"] is not None], ids=str)
def test_a_published_example_is_normalised(example: dict) -> None:
    assert canonical(example) == example["canonical"]


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e["canonical"] is None], ids=str)
def test_a_published_example_without_a_canonical_form_is_refused(example: dict) -> None:
    with pytest.raises(CanonicalFormError):
        canonical(example)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"seq-{vector['payload']['seq']}")
def test_the_text_is_what_pythons_own_json_writes_for_such_payloads(vector: dict) -> None:
    """A second implementation: for payloads without floats the two agree."""
    text = json.dumps(vector["payload"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert canonical_json(vector["payload"]) == text.encode()
    assert hashlib.sha256(f"{vector['prev_hash']}\n{text}".encode()).hexdigest() == vector["hash"]


@pytest.mark.parametrize(
    ("given_amount", "currency", "text"),
    [
        ("18.6", "KWD", "18.600"),
        ("0", "BHD", "0.000"),
        ("-0", "JPY", "0"),
        ("-5.5", "EUR", "-5.50"),
        ("12345678901234567890123456789012.34", "EUR", "12345678901234567890123456789012.34"),
        ("1.2345", "CLF", "1.2345"),
    ],
)
def test_an_amount_has_its_currencys_decimals(given_amount: str, currency: str, text: str) -> None:
    assert canonical_amount(Decimal(given_amount), currency) == text


@pytest.mark.parametrize(
    "amount",
    ["1.001", "1_000", " 1", "1,00", "１", "", ".5", "Infinity", "1E+999", "1E-999", "0x10", "--1", "1.0.0"],
)
def test_what_is_no_euro_amount_is_refused(amount: str) -> None:
    with pytest.raises(CanonicalFormError):
        canonical_amount(amount, "EUR")


@pytest.mark.parametrize("amount", [1.1, 1, True, None])
def test_only_decimals_and_text_are_amounts(amount: object) -> None:
    with pytest.raises(CanonicalFormError):
        canonical_amount(amount, "EUR")  # type: ignore[arg-type]


@pytest.mark.parametrize("currency", ["eur", "EURO", "XXX", "", "DEM"])
def test_what_is_no_currency_is_refused(currency: str) -> None:
    with pytest.raises(UnknownCurrency):
        canonical_amount("1", currency)


@pytest.mark.parametrize(
    ("currency", "scale"), [("JPY", 0), ("EUR", 2), ("HUF", 2), ("IQD", 3), ("TND", 3), ("CLF", 4)]
)
def test_scales_are_those_of_iso_4217(currency: str, scale: int) -> None:
    """HUF and IQD are where CLDR, which babel carries, differs from ISO 4217."""
    assert currency_scale(currency) == scale


@pytest.mark.parametrize(
    ("rate", "text"), [("19", "19"), ("19.00", "19"), ("0.070", "0.07"), ("-0.0", "0"), ("100", "100"), ("1E+2", "100")]
)
def test_a_rate_has_no_trailing_zeros(rate: str, text: str) -> None:
    assert canonical_rate(rate) == text


@pytest.mark.parametrize(
    "time",
    ["2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01", "0001-01-01T00:00:00+01:00"],
)
def test_a_time_that_is_none_is_refused(time: str) -> None:
    with pytest.raises(CanonicalFormError):
        canonical_time(time)


def test_a_time_as_a_date_is_refused_because_its_day_depends_on_a_zone() -> None:
    with pytest.raises(CanonicalFormError):
        canonical_date(datetime(2026, 3, 4, tzinfo=UTC))
    assert canonical_date(date(987, 3, 4)) == "0987-03-04"


@pytest.mark.parametrize(
    "payload",
    [
        {"a": 1.0},
        {"a": 2**53},
        {"a": -(2**53)},
        {"A": 1},
        {"é": 1},
        {"": 1},
        {"1a": 1},
        {"a": "cafe\u0301"},
        {"a": b"x"},
        {"a": "\0"},
    ],
    ids=str,
)
def test_a_payload_out_of_form_is_refused_and_not_repaired(payload: dict) -> None:
    with pytest.raises(CanonicalFormError):
        canonical_json(payload)


@pytest.mark.parametrize("prev_hash", ["", "0" * 63, "0" * 65, "A" * 64, "0" * 63 + "\n"])
def test_a_previous_hash_out_of_form_is_refused(prev_hash: str) -> None:
    with pytest.raises(CanonicalFormError):
        entry_hash(prev_hash, VECTORS[0]["payload"])


euro_cents = st.integers(-(10**15), 10**15)


@given(euro_cents, st.integers(0, 6))
def test_one_amount_has_one_text_however_it_is_written(cents: int, zeros: int) -> None:
    amount = Decimal(cents).scaleb(-2)
    spellings = {amount, amount.normalize(), Decimal(f"{amount}{'0' * zeros}"), Decimal(f"{amount:E}")}
    texts = {canonical_amount(spelling, "EUR") for spelling in spellings} | {canonical_amount(str(amount), "EUR")}
    assert len(texts) == 1
    (text,) = texts
    assert Decimal(text) == amount
    assert text.partition(".")[2] == f"{abs(cents) % 100:02d}"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_canonical_text_is_nfc_and_reads_back_unchanged(text: str) -> None:
    once = canonical_text(text)
    assert once == unicodedata.normalize("NFC", text) == canonical_text(once)
    assert json.loads(canonical_json(once)) == once


@given(
    st.datetimes().filter(lambda moment: 1 < moment.year < 9999),
    st.integers(-14 * 60, 14 * 60),
    st.integers(0, 999),
)
def test_a_time_is_the_same_point_in_every_zone_and_nanoseconds_are_cut(
    moment: datetime, offset: int, nanos: int
) -> None:
    utc = moment.replace(tzinfo=UTC)
    elsewhere = utc.astimezone(timezone(timedelta(minutes=offset)))
    text = canonical_time(utc)
    assert canonical_time(elsewhere) == text
    assert canonical_time(f"{text[:-1]}{nanos:03d}Z") == text
    assert datetime.fromisoformat(text) == utc


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).map(canonical_text)
keys = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
payloads = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
)


@given(payloads)
def test_the_text_of_a_payload_reads_back_as_the_payload(payload: object) -> None:
    assert json.loads(canonical_json(payload)) == payload


@given(
    st.integers(0, 4),
    st.sampled_from(["voucher", "posted_by", "text", "document_type", "chain"]),
    st.text("abc", min_size=1),
)
def test_any_change_of_a_text_changes_the_hash(number: int, field: str, addition: str) -> None:
    vector = VECTORS[number]
    changed = vector["payload"] | {field: vector["payload"][field] + addition}
    assert entry_hash(vector["prev_hash"], changed) != vector["hash"]
