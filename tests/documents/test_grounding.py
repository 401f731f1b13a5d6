"""Which proposed values a document does not have."""

from datetime import date
from decimal import Decimal

import pytest

from bookkeeping.documents import Kind, Record, Source, catalogue, evidence_of, fabricated

DOCUMENT = """Larch Trading Ltd        Invoice INV 2024/17
issued 12. Juli 2022     VAT DE 123 456 789
Blue pens,          5    1 234,50
  box of ten
Rabatt                   −12,00
Zu zahlen          EUR   1.222,50
"""
SOURCE = Source(DOCUMENT, evidence_of(DOCUMENT))

THERE = [
    (Kind.AMOUNT, Decimal("1222.50")),
    (Kind.AMOUNT, Decimal("1222.5")),
    (Kind.AMOUNT, Decimal("1234.50")),
    (Kind.AMOUNT, Decimal("-12.00")),
    (Kind.AMOUNT, Decimal("12")),
    (Kind.NUMBER, Decimal(5)),
    (Kind.DATE, date(2022, 7, 12)),
    (Kind.CURRENCY, "EUR"),
    (Kind.TEXT, "LARCH TRADING LTD"),
    (Kind.TEXT, "Blue pens, box of ten"),
    (Kind.IDENTIFIER, "INV2024/17"),
    (Kind.IDENTIFIER, "DE123456789"),
]
NOT_THERE = [
    (Kind.AMOUNT, Decimal("1222.51")),
    (Kind.AMOUNT, Decimal("1234.5") * 2),
    (Kind.NUMBER, Decimal(50)),
    (Kind.DATE, date(2022, 12, 7)),
    (Kind.CURRENCY, "USD"),
    (Kind.TEXT, "Larch Trading GmbH"),
    (Kind.TEXT, "Trading Larch"),
    (Kind.TEXT, "pen"),
    (Kind.IDENTIFIER, "INV2024/18"),
    (Kind.IDENTIFIER, "17x"),
]


@pytest.mark.parametrize(("kind", "value"), THERE)
def test_a_value_that_stands_there_is_found(kind, value):
    assert SOURCE.has(kind, value)


@pytest.mark.parametrize(("kind", "value"), NOT_THERE)
def test_a_value_that_does_not_is_not(kind, value):
    assert not SOURCE.has(kind, value)


def test_every_invented_value_of_a_record_is_named():
    record = Record(
        {"number": "INV 2024/17", "total": Decimal("1222.50"), "due_date": date(2022, 8, 12)},
        ({"description": "Blue pens"}, {"description": "Red pens", "amount": Decimal("99.00")}),
    )
    schema = catalogue().types["sales_invoice"].payload
    assert fabricated(record, schema, SOURCE) == ("due_date", "rows.1.description", "rows.1.amount")


def test_both_readings_of_an_ambiguous_date_stand_there():
    source = Source("3/4/2020", evidence_of("3/4/2020"))
    assert source.has(Kind.DATE, date(2020, 4, 3))
    assert source.has(Kind.DATE, date(2020, 3, 4))
    assert not source.has(Kind.DATE, date(2020, 5, 3))


def test_the_dates_of_a_statement_line_stand_there():
    text = ":60F:C160101EUR0,00\n:61:1604300502DR100,00NTRF"
    source = Source(text, evidence_of(text))
    assert source.has(Kind.DATE, date(2016, 4, 30))
    assert source.has(Kind.DATE, date(2016, 5, 2))
    assert source.has(Kind.AMOUNT, Decimal("-100.00"))


def test_an_empty_document_has_nothing():
    source = Source("", evidence_of(""))
    assert not source.has(Kind.AMOUNT, Decimal(0))
    assert not source.has(Kind.TEXT, "anything")


@pytest.mark.parametrize(
    ("value", "there"),
    [("Theatre Anthem Ltd", True), ("the Theatre Anthem Ltd", False), ("atre Anthem", False), ("Theatre Ltd", True)],
)
def test_a_name_that_contains_an_article_is_compared_by_whole_words(value, there):
    """H29: no part of a word is taken away or found, "the" in "Theatre" and in "Anthem" neither."""
    text = "Theatre Anthem Ltd\n12 Mill Lane"
    assert Source(text, evidence_of(text)).has(Kind.TEXT, value) is there
