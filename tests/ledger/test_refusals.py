"""What a book refuses, through Python: the code says what, and nothing of the entry stays."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookkeeping.ledger import Book, Entry, Ledger, LedgerRefusal, Line
from bookkeeping.ledger.errors import REFUSALS
from tests.ledger.builders import a_spec, an_entry, credit, debit

ONE = credit("2010", "1.00")


@pytest.fixture(scope="module")
def book(ledger: Ledger) -> Book:
    """January and February are closed, 6240 is closed for posting."""
    return ledger.create_book(a_spec(closed_through=date(2026, 2, 28), inactive_accounts=frozenset({"6240"})))


def refusal(book: Book, entry: Entry) -> LedgerRefusal:
    before = book.entries()
    with pytest.raises(LedgerRefusal) as refused:
        book.post(entry)
    assert book.entries() == before
    with pytest.raises(LedgerRefusal) as in_bulk:
        book.post_many([an_entry(), entry])
    assert in_bulk.value.code == refused.value.code
    assert book.entries() == before
    return refused.value


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("unbalanced", (debit("6110", "1.01"), ONE)),
        ("unbalanced", (debit("6110", "1.00"), debit("2010", "1.00"))),
        ("unknown_account", (debit("9999", "1.00"), ONE)),
        ("unknown_account", (debit("", "1.00"), ONE)),
        ("inactive_account", (debit("6240", "1.00"), ONE)),
        ("wrong_sign", (debit("6110", "-1.00"), credit("2010", "-1.00"))),
        ("wrong_sign", (debit("6110", "0.00"), credit("2010", "0.00"))),
        ("wrong_sign", (debit("6110", "1.00", "-1.00", "USD"), ONE)),
        ("wrong_sign", (Line("6110", "left", Decimal(1)), ONE)),  # type: ignore[arg-type]
        ("out_of_tolerance", (debit("6110", "1.001"), credit("2010", "1.001"))),
        ("out_of_tolerance", (debit("6110", "1.00", "15000.5", "JPY"), ONE)),
        ("out_of_tolerance", (debit("6110", "NaN"), ONE)),
        ("out_of_tolerance", (debit("6110", "Infinity"), credit("2010", "Infinity"))),
        ("out_of_tolerance", (debit("6110", "1E+18"), credit("2010", "1E+18"))),
        ("out_of_tolerance", (Line("6110", "debit", 1.0), ONE)),  # type: ignore[arg-type]
        ("unknown_currency", (debit("6110", "1.00", "1.00", "XYZ"), ONE)),
        ("unknown_currency", (debit("6110", "1.00", "1.00", "usd"), ONE)),
        ("wrong_currency", (debit("6110", "1.00", "1.10", "EUR"), ONE)),
        ("wrong_currency", (Line("6110", "debit", Decimal(1), Decimal(1)), ONE)),
        ("wrong_currency", (Line("6110", "debit", Decimal(1), None, "USD"), ONE)),
        ("malformed_text", (debit("6110", "1.00", text="a\0b"), ONE)),
    ],
)
def test_wrong_lines_are_refused(book: Book, code: str, lines: tuple[Line, ...]) -> None:
    assert refusal(book, an_entry(*lines)).code == code


@pytest.mark.parametrize("lines", [(), (ONE,)])
def test_an_entry_has_two_lines_at_least(book: Book, lines: tuple[Line, ...]) -> None:
    entry = Entry("key", "memo", None, None, date(2026, 3, 4), "bookkeeper", "", lines)
    assert refusal(book, entry).code == "unbalanced"


@pytest.mark.parametrize("day", [date(2026, 1, 1), date(2026, 2, 28), date(2025, 12, 31), date(2027, 1, 1)])
def test_a_day_in_a_closed_period_or_in_none_is_refused(book: Book, day: date) -> None:
    assert refusal(book, an_entry(posting_date=day)).code == "period_closed"


@pytest.mark.parametrize("day", [date(2026, 3, 1), date(2026, 12, 31)])
def test_a_day_in_an_open_period_is_not(book: Book, day: date) -> None:
    assert book.post(an_entry(posting_date=day, document_date=date(2020, 1, 1))).seq >= 1


@pytest.mark.parametrize(
    "changes",
    [{"text": "a\0b"}, {"text": "\ud83d"}, {"key": "a\0"}, {"key": ""}, {"posted_by": ""}, {"document_type": ""}],
    ids=str,
)
def test_text_that_cannot_be_kept_is_refused(book: Book, changes: dict) -> None:
    assert refusal(book, an_entry(**changes)).code == "malformed_text"


def test_a_voucher_number_is_given_once(book: Book) -> None:
    book.post(an_entry(voucher="RV-1"))
    assert refusal(book, an_entry(voucher="RV-1")).code == "duplicate"


def test_a_refusal_names_the_rule_of_the_database(book: Book) -> None:
    refused = refusal(book, an_entry(debit("6110", "1.01"), ONE))
    assert refused.constraint == "entry_balanced"
    assert "0.01" in refused.message


def test_every_rule_that_has_a_code_is_a_rule_of_the_database(ledger: Ledger, raw) -> None:
    """A constraint that is renamed in SQL alone would no longer be understood."""
    native = {
        name for (name,) in raw.execute("SELECT conname FROM pg_constraint WHERE connamespace = 'ledger'::regnamespace")
    }
    functions = raw.execute("SELECT prosrc FROM pg_proc WHERE pronamespace = 'ledger'::regnamespace").fetchall()
    tables = [name for (name,) in raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'ledger'")]
    raised = "".join(source for (source,) in functions)
    for name in REFUSALS:
        final = name.endswith("_final") and name.removesuffix("_final") in tables
        assert name in native or f"'{name}'" in raised or final, name


cents = st.integers(1, 10**9)


@st.composite
def balanced(draw: st.DrawFn) -> list[Line]:
    """Debits on some accounts, and credits that add up to the same, split elsewhere."""
    debits = draw(st.lists(st.tuples(st.sampled_from(["6110", "6250", "1410", "1040"]), cents), min_size=1, max_size=4))
    left = sum(amount for _, amount in debits)
    credits_ = []
    while left and len(credits_) < 3:
        part = draw(st.integers(1, left))
        credits_.append(("2010", part))
        left -= part
    if left:
        credits_.append(("2210", left))
    both = [("debit", *line) for line in debits] + [("credit", *line) for line in credits_]
    return [Line(account, side, Decimal(amount).scaleb(-2)) for side, account, amount in draw(st.permutations(both))]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=balanced())
def test_a_balanced_entry_is_taken_and_all_balances_add_up_to_zero(book: Book, lines: list[Line]) -> None:
    seq = book.post(an_entry(*lines)).seq
    assert sum(book.balances([seq]).values()) == 0
    assert sum(book.balances().values()) == 0
    signed = [line.amount if line.side == "debit" else -line.amount for line in lines if line.account == "2010"]
    assert book.balances([seq]).get("2010", Decimal(0)) == sum(signed)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=balanced(), data=st.data())
def test_a_cent_more_or_less_in_any_line_is_refused(book: Book, lines: list[Line], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(lines) - 1))
    cent = data.draw(st.sampled_from([Decimal("0.01"), Decimal("-0.01")]))
    line = lines[number]
    changed = [*lines[:number], Line(line.account, line.side, line.amount + cent), *lines[number + 1 :]]
    with pytest.raises(LedgerRefusal) as refused:
        book.post(an_entry(*changed))
    assert refused.value.code == ("wrong_sign" if line.amount + cent == 0 else "unbalanced")
