"""Opening a book, its periods, its accounts."""

import itertools
from datetime import date
from decimal import Decimal

import pytest

from bookkeeping.ledger import Book, BookSpec, Ledger, LedgerRefusal, Period
from tests.ledger.builders import a_spec, an_entry, credit, debit


def test_a_book_is_opened_again_by_its_chain(ledger: Ledger) -> None:
    book = ledger.create_book(a_spec(chain="larch", currency="CHF", time_zone="Europe/Zurich"))
    again = ledger.open_book("larch")
    assert again == book
    assert (again.company, again.currency, again.time_zone, again.kind) == (
        "Larch Trading Ltd", "CHF", "Europe/Zurich", "live",
    )  # fmt: skip


def test_periods_are_all_months_that_touch_the_span(ledger: Ledger) -> None:
    book = ledger.create_book(
        a_spec(open_from=date(2024, 1, 31), open_to=date(2024, 3, 1), closed_through=date(2024, 1, 31))
    )
    assert book.periods() == (
        Period(date(2024, 1, 1), date(2024, 1, 31), is_closed=True),
        Period(date(2024, 2, 1), date(2024, 2, 29), is_closed=False),
        Period(date(2024, 3, 1), date(2024, 3, 31), is_closed=False),
    )


@pytest.mark.parametrize(
    ("closed_through", "closed"), [(date(2026, 2, 1), 2), (date(2026, 2, 28), 2), (date(2025, 12, 31), 0), (None, 0)]
)
def test_months_are_closed_up_to_the_one_with_the_day(ledger: Ledger, closed_through: date | None, closed: int) -> None:
    book = ledger.create_book(a_spec(closed_through=closed_through))
    assert [period.is_closed for period in book.periods()] == [True] * closed + [False] * (12 - closed)


class TestDays:
    @pytest.fixture
    def book(self, ledger: Ledger) -> Book:
        return ledger.create_book(a_spec(closed_through=date(2026, 2, 28)))

    @pytest.mark.parametrize(
        ("day", "first_day"),
        [
            (date(2026, 1, 1), date(2026, 1, 1)),
            (date(2026, 2, 28), date(2026, 2, 1)),
            (date(2026, 12, 31), date(2026, 12, 1)),
        ],
    )
    def test_a_day_is_in_its_month(self, book: Book, day: date, first_day: date) -> None:
        period = book.period_of(day)
        assert period is not None
        assert (period.first_day, period.is_closed) == (first_day, first_day < date(2026, 3, 1))

    @pytest.mark.parametrize("day", [date(2025, 12, 31), date(2027, 1, 1)])
    def test_a_day_outside_the_book_is_in_no_period(self, book: Book, day: date) -> None:
        assert book.period_of(day) is None

    @pytest.mark.parametrize(
        ("day", "open_day"),
        [
            (date(2026, 2, 10), date(2026, 3, 1)),
            (date(2026, 3, 10), date(2026, 3, 10)),
            (date(2025, 6, 1), date(2026, 3, 1)),
            (date(2026, 12, 31), date(2026, 12, 31)),
            (date(2027, 1, 1), None),
        ],
    )
    def test_the_next_open_day_is_the_day_itself_or_the_first_of_the_next_open_period(
        self, book: Book, day: date, open_day: date | None
    ) -> None:
        assert book.next_open_day(day) == open_day

    def test_a_period_is_closed_for_good(self, book: Book) -> None:
        book.post(an_entry(posting_date=date(2026, 4, 30)))
        book.close_through(date(2026, 4, 1))
        with pytest.raises(LedgerRefusal) as refused:
            book.post(an_entry(posting_date=date(2026, 4, 30)))
        assert refused.value.code == "period_closed"
        assert book.next_open_day(date(2026, 1, 1)) == date(2026, 5, 1)


def test_an_account_can_be_closed_for_posting_later(ledger: Ledger) -> None:
    one, other = ledger.create_book(a_spec()), ledger.create_book(a_spec())
    one.post(an_entry())
    one.deactivate("6110")
    one.deactivate("6110")
    with pytest.raises(LedgerRefusal) as refused:
        one.post(an_entry())
    assert refused.value.code == "inactive_account"
    assert other.post(an_entry()).seq == 1


def test_every_account_of_the_chart_takes_a_posting(ledger: Ledger, book: Book) -> None:
    """The chart has 92 accounts; a neighbour is the other side of each."""
    from bookkeeping.ledger.chart import standard_chart

    codes = [account.code for account in standard_chart()]
    assert len(set(codes)) == 92
    book.post_many([an_entry(debit(one, "1"), credit(next_, "1")) for one, next_ in itertools.pairwise(codes)])
    assert set(book.balances()) == set(codes)
    assert book.balances()[codes[0]] == Decimal("1.00")


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("unknown_currency", {"currency": "XYZ"}),
        ("unknown_currency", {"currency": "eur"}),
        ("unknown_account", {"inactive_accounts": frozenset({"9999"})}),
        ("unknown_time_zone", {"time_zone": "Europe/Atlantis"}),
        ("unknown_time_zone", {"time_zone": ""}),
        ("unknown_time_zone", {"time_zone": "/etc/passwd"}),
        ("malformed_text", {"chain": ""}),
        ("malformed_text", {"company": "a\0"}),
        ("not_marked", {"kind": "eval"}),
    ],
)
def test_a_book_that_cannot_be_kept_is_refused(ledger: Ledger, code: str, changes: dict) -> None:
    spec = a_spec(**changes)
    with pytest.raises(LedgerRefusal) as refused:
        ledger.create_book(spec)
    assert refused.value.code == code
    with pytest.raises(LedgerRefusal) as absent:
        ledger.open_book(spec.chain)
    assert absent.value.code == "unknown_book"


def test_a_chain_is_given_once(ledger: Ledger, book: Book) -> None:
    with pytest.raises(LedgerRefusal) as refused:
        ledger.create_book(a_spec(chain=book.chain))
    assert refused.value.code == "duplicate"


@pytest.mark.parametrize("changes", [{"open_to": date(2025, 12, 31)}, {"owner": "somebody"}])
def test_a_spec_that_contradicts_itself_is_no_spec(changes: dict) -> None:
    with pytest.raises(ValueError, match=r"span|owner"):
        BookSpec(**{"chain": "c", "company": "c", "currency": "EUR", "time_zone": "UTC",
                    "open_from": date(2026, 1, 1), "open_to": date(2026, 1, 1)} | changes)  # fmt: skip
