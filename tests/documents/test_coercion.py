"""A record as copied from a document, into values."""

from datetime import date
from decimal import Decimal

import pytest

from bookkeeping.documents import Unread, UnreadField, catalogue, coerce, evidence_of


def coerced(doc_type, fields, rows=(), document=""):
    return coerce(catalogue().types[doc_type], fields, rows, evidence_of(document))


def test_each_field_is_read_by_its_kind():
    document = "12/02/2018  GST 6%  TOTAL RM 33.90"
    record = coerced(
        "expense_receipt",
        {
            "date": "12/02/2018",
            "total": "33.90",
            "tax_rate": "6%",
            "currency": "RM",
            "issuer": " Kedai \n Buku ",
            "number": "",
        },
        document=document,
    )
    assert record.fields == {
        "date": date(2018, 2, 12),
        "total": Decimal("33.90"),
        "tax_rate": Decimal(6),
        "currency": "MYR",
        "issuer": "Kedai Buku",
    }


def test_what_cannot_be_read_is_told_and_not_proposed():
    record = coerced("supplier_invoice", {"total": "10.999.99", "date": "3/4/2020"}, [{"amount": "11,11.11"}])
    assert record.fields == {}
    assert record.rows == ()
    assert record.unread == (
        UnreadField("date", Unread("ambiguous_date", "3/4/2020")),
        UnreadField("total", Unread("malformed_number", "10.999.99")),
        UnreadField("rows.0.amount", Unread("malformed_number", "11,11.11")),
    )


def test_names_that_the_type_does_not_have_are_left_out():
    assert coerced("supplier_invoice", {"total": "1.00", "mood": "good"}).fields == {"total": Decimal("1.00")}


def test_the_documents_currency_says_how_many_decimals_an_amount_has():
    assert coerced("supplier_invoice", {"total": "1,935", "currency": "JPY"}).fields["total"] == 1935
    assert coerced("supplier_invoice", {"total": "1,935", "currency": "KWD"}).fields["total"] == Decimal("1.935")


MOVEMENTS = [
    ({"amount": "13,37 S"}, "-13.37"),
    ({"amount": "1.337,00 H"}, "1337.00"),
    ({"amount": "100,00", "indicator": "D"}, "-100.00"),
    ({"amount": "100,00", "indicator": "CRDT"}, "100.00"),
    ({"amount": "-100,00", "indicator": "DBIT"}, "-100.00"),
    ({"debit": "50,00", "credit": ""}, "-50.00"),
    ({"debit": "", "credit": "50,00"}, "50.00"),
    ({"debit": "0,00", "credit": "50,00"}, "50.00"),
    ({"amount": "-7,50"}, "-7.50"),
]


@pytest.mark.parametrize(("written", "amount"), MOVEMENTS)
def test_a_movement_has_one_amount_positive_for_money_that_came_in(written, amount):
    (row,) = coerced("bank_statement", {}, [written]).rows
    assert row == {"amount": Decimal(amount)}


def test_elsewhere_debit_and_credit_are_columns_of_their_own():
    (row,) = coerced("journal_voucher", {}, [{"account": "6000", "debit": "50.00"}]).rows
    assert row == {"account": "6000", "debit": Decimal("50.00")}


def test_a_booking_date_without_a_year_takes_it_from_the_value_date():
    document = ":60F:C160101EUR0,00\n:61:1604300502DR100,00NTRF"
    (row,) = coerced("bank_statement", {}, [{"date": "0502", "value_date": "160430"}], document).rows
    assert row == {"date": date(2016, 5, 2), "value_date": date(2016, 4, 30)}


def test_a_credit_note_with_negative_totals_is_a_credit_of_the_same_amount():
    fields = {"net": "-100.00", "tax": "-22.00", "total": "-122.00"}
    record = coerced("supplier_credit_note", fields, [{"description": "return", "amount": "-100.00"}])
    assert record.fields == {"net": Decimal("100.00"), "tax": Decimal("22.00"), "total": Decimal("122.00")}
    assert record.rows == ({"description": "return", "amount": Decimal("100.00")},)


def test_a_credit_note_with_mixed_signs_stays_as_it_is_printed():
    record = coerced("supplier_credit_note", {"net": "10.00", "total": "-122.00"})
    assert record.fields == {"net": Decimal("10.00"), "total": Decimal("-122.00")}


def test_an_invoice_keeps_its_signs():
    fields = {"net": "-10.00", "tax": "15.00", "total": "5.00"}
    assert coerced("supplier_invoice", fields).fields["net"] == Decimal("-10.00")


def test_a_row_without_anything_is_no_row():
    assert coerced("supplier_invoice", {}, [{"description": "", "amount": " "}, {"amount": "1.00"}]).rows == (
        {"amount": Decimal("1.00")},
    )
