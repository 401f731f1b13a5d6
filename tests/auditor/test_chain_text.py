"""The text that the database builds for hashing is the canonical form, byte for byte, and refuses what that refuses."""

import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookkeeping.agents.auditor.chain.scan import is_whole, scan
from bookkeeping.agents.auditor.reading import Reader
from bookkeeping.ledger import Book, BookSpec, Entry, Ledger, Line

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NAMES = TEXTS.filter(bool)
CENTS = st.integers(1, 10**12).map(lambda cents: Decimal(cents) / 100)
DAYS = st.dates(date(2025, 1, 1), date(2025, 12, 31))
FOREIGN = st.sampled_from([("JPY", Decimal(15000)), ("KWD", Decimal("18.600")), ("USD", Decimal("0.10"))])


@pytest.fixture(scope="module")
def clock() -> list[datetime]:
    return [datetime(2025, 3, 1, 9, 0, 0, 1, tzinfo=UTC)]


@pytest.fixture(scope="module")
def ledger(auditor_url: str, clock: list[datetime]) -> Iterator[Ledger]:
    with Ledger.connect(auditor_url, clock=lambda: clock[0]) as ledger:
        yield ledger


@pytest.fixture(scope="module")
def reader(auditor_url: str) -> Iterator[Reader]:
    with Reader(auditor_url) as reader:
        yield reader


def a_book(ledger: Ledger, name: str = "") -> Book:
    spec = BookSpec(
        f"{name}{uuid.uuid4().hex}", "Larch", "EUR", "UTC", date(2025, 1, 1), date(2025, 12, 31), kind="eval"
    )
    return ledger.create_book(spec)


def failing(reader: Reader, book: Book) -> list[int]:
    with reader.snapshot() as snapshot, snapshot.session() as session:
        found = scan(session, book.book_id, book.chain)
    return list(found.failing)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=NAMES, number=st.none() | TEXTS, dated=st.none() | DAYS, posted=DAYS, user=NAMES, text=TEXTS,
    line_text=st.none() | TEXTS, amount=CENTS, foreign=FOREIGN, chain=TEXTS,
    moment=st.datetimes(datetime(2025, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001 - made aware below
)  # fmt: skip
def test_whatever_the_ledger_writes_verifies(
    ledger: Ledger, reader: Reader, clock: list[datetime], kind: str, number: str | None, dated: date | None,
    posted: date, user: str, text: str, line_text: str | None, amount: Decimal, foreign: tuple[str, Decimal],
    chain: str, moment: datetime,
) -> None:  # fmt: skip
    clock[0] = moment.replace(tzinfo=UTC)
    book = a_book(ledger, chain)
    stated = (foreign[1], foreign[0])
    lines = (Line("1110", "debit", amount, *stated, text=line_text), Line("4010", "credit", amount))
    book.post(Entry("key", kind, number, dated, posted, user, text, lines))
    try:
        with reader.snapshot() as snapshot, snapshot.session() as session:
            assert is_whole(scan(session, book.book_id, book.chain))
    finally:
        ledger.drop_book(book)


CHANGES = {
    "more decimals than the currency has": "UPDATE ledger.lines SET amount = 100.001, document_amount = 100.001",
    "a decimal more of the document": "UPDATE ledger.lines SET document_amount = 100.001, document_currency = 'USD'",
    "a later microsecond": "UPDATE ledger.entries SET posted_at = posted_at + interval '1 microsecond'",
    "another day": "UPDATE ledger.entries SET posting_date = posting_date + 1",
    "another document day": "UPDATE ledger.entries SET document_date = NULL",
    "another side": "UPDATE ledger.lines SET side = CASE side WHEN 'debit' THEN 'credit' ELSE 'debit' END",
    "another order of lines": "UPDATE ledger.lines SET line_no = 3 - line_no",
    "a line less": "DELETE FROM ledger.lines WHERE line_no = 2 AND book_id = %(book)s",
    "another voucher number": "UPDATE ledger.entries SET voucher = 'V-9'",
    "another type": "UPDATE ledger.entries SET document_type = 'other'",
    "an empty line text": "UPDATE ledger.lines SET text = ''",
}


@pytest.mark.parametrize("what", list(CHANGES))
def test_no_change_of_what_is_hashed_verifies(ledger: Ledger, reader: Reader, auditor_url: str, what: str) -> None:
    book = a_book(ledger)
    day = date(2025, 3, 4)
    amount = Decimal("100.00")
    lines = (Line("1110", "debit", amount), Line("4010", "credit", amount))
    book.post(Entry("key", "sales_invoice", "N-1", day, day, "U1", "sale", lines))
    assert failing(reader, book) == []
    change = CHANGES[what]
    with psycopg.connect(auditor_url) as raw:
        raw.execute("SET LOCAL session_replication_role = replica")
        if "line_no = 3" in change:
            raw.execute("ALTER TABLE ledger.lines DROP CONSTRAINT lines_pkey")
        raw.execute(
            (change if "WHERE" in change else f"{change} WHERE book_id = %(book)s").encode(), {"book": book.book_id}
        )
        if "line_no = 3" in change:
            raw.execute("ALTER TABLE ledger.lines ADD PRIMARY KEY (book_id, seq, line_no)")
    try:
        assert failing(reader, book) == [1]
    finally:
        ledger.drop_book(book)
