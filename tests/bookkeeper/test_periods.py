"""On which day a record is booked."""

import pytest

from tests.bookkeeper.conftest import BookIt, Json
from tests.bookkeeper.records import purchase, record

CLOSED = {"closed_through": "2026-02-28"}


def test_a_record_is_booked_on_its_date(book_it: BookIt) -> None:
    assert book_it(purchase(date="2026-03-04"))["posting_date"] == "2026-03-04"


def test_a_stated_posting_date_comes_first(book_it: BookIt) -> None:
    assert book_it(purchase(date="2026-03-31", posting_date="2026-04-02"))["posting_date"] == "2026-04-02"


def test_a_document_date_in_a_closed_period_moves_to_the_next_open_day_and_is_kept(book_it: BookIt, open_book) -> None:
    book = open_book(**CLOSED)
    assert book_it(purchase(date="2026-01-20"), in_book=book, **CLOSED)["posting_date"] == "2026-03-01"
    assert book.entries()[0].document_date.isoformat() == "2026-01-20"


@pytest.mark.parametrize(
    "dates",
    [
        {"date": "2026-01-20", "posting_date": "2026-01-20"},
        {"date": "2026-03-04", "posting_date": "2026-02-28"},
        {"date": "2026-03-04", "posting_date": "2027-01-01"},
        {"date": "2027-01-01"},
    ],
)
def test_no_open_period_is_a_refusal(dates: Json, book_it: BookIt) -> None:
    outputs = book_it(purchase(**dates), **CLOSED)
    assert (outputs["status"], outputs["reason"], outputs["posting_date"]) == ("refused", "period_closed", None)


def test_a_record_without_any_date_is_incomplete(book_it: BookIt) -> None:
    assert book_it(purchase(date=None))["reason"] == "missing_input"


def test_the_month_of_the_posting_date_decides_about_deferral(book_it: BookIt) -> None:
    # the service ended in January; booked in March it is a cost of the past, not prepaid
    january = purchase(date="2026-01-20", service_period_end="2026-02-28")
    assert book_it(january, **CLOSED)["rule"] == "supplier_invoice.expense"
    assert book_it(january)["rule"] == "supplier_invoice.multi_period"


def test_a_schedule_is_booked_month_by_month(book_it: BookIt, open_book) -> None:
    book = open_book()
    for month in ("1", "2", "1"):
        amounts = {"total": "2142.00", "months": "12", "month_no": month}
        outputs = book_it(record("prepayment_release_schedule", amounts=amounts), in_book=book)
    assert outputs["reason"] == "duplicate"
    assert len(book.entries()) == 2


def test_after_the_last_month_nothing_is_left_to_post(book_it: BookIt) -> None:
    amounts = {"cost": "3600.00", "residual": "0.00", "months": "36", "month_no": "37"}
    outputs = book_it(record("depreciation_schedule", amounts=amounts))
    assert (outputs["status"], outputs["reason"]) == ("nothing_to_post", "zero_amount")
    beyond = {"total": "1200.00", "months": "12", "month_no": "13"}
    assert book_it(record("revenue_deferral_schedule", amounts=beyond))["reason"] == "out_of_tolerance"


def test_history_was_posted_before_its_periods_and_accounts_were_closed(book_it: BookIt, open_book) -> None:
    history = [purchase(number="D-0", date="2026-01-20", categories={"expense": "penalty"})]
    state = {**CLOSED, "inactive_accounts": ["6240"], "history": history}
    book = open_book(**state)
    assert book_it(purchase(date="2026-02-10"), in_book=book, **state)["posting_date"] == "2026-03-01"
    assert book.entries()[0].posting_date.isoformat() == "2026-01-20"
    fine = purchase(number="D-2", categories={"expense": "penalty"})
    assert book_it(fine, **state)["reason"] == "inactive_account"


def test_what_an_insurance_covers_must_be_known(book_it: BookIt) -> None:
    premium = record("insurance_premium_invoice", amounts={"premium": "95.00", "ipt_rate": "12"})
    assert book_it(premium)["reason"] == "missing_input"
    assert book_it({**premium, "service_period_end": "2026-03-31"})["rule"].endswith(".current_month")
    assert book_it({**premium, "service_period_end": "2027-02-28"})["rule"].endswith(".annual_premium")
