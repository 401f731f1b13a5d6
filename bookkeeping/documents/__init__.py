"""Documents: the catalogue of their types, and how what is written on them is read.

    source = plain text of a document
    evidence = evidence_of(source)
    record = coerce(catalogue().types["expense_receipt"], {"total": "RM 33.90"}, [], evidence)
    fabricated(record, catalogue().types["expense_receipt"].payload, Source(source, evidence))

Nothing here calls a model, and nothing raises for what a document says: what cannot be read is an ``Unread``.
"""

from bookkeeping.documents.catalogue import Catalogue, CatalogueError, DocumentType, catalogue
from bookkeeping.documents.coercion import Cells, Record, UnreadField, Value, coerce
from bookkeeping.documents.currencies import read_currency
from bookkeeping.documents.dates import DateHabits, read_date
from bookkeeping.documents.evidence import Evidence, evidence_of
from bookkeeping.documents.grounding import Source, fabricated
from bookkeeping.documents.numbers import NumberHabits, read_number
from bookkeeping.documents.payload import NUMERIC, Field, Kind, PayloadSchema
from bookkeeping.documents.unread import Unread
from bookkeeping.documents.written import compact, folded, plain

__all__ = [
    "NUMERIC",
    "Catalogue",
    "CatalogueError",
    "Cells",
    "DateHabits",
    "DocumentType",
    "Evidence",
    "Field",
    "Kind",
    "NumberHabits",
    "PayloadSchema",
    "Record",
    "Source",
    "Unread",
    "UnreadField",
    "Value",
    "catalogue",
    "coerce",
    "compact",
    "evidence_of",
    "fabricated",
    "folded",
    "plain",
    "read_currency",
    "read_date",
    "read_number",
]
