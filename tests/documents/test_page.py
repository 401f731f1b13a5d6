"""The page for authors of examples says what the catalogue has."""

import re
from pathlib import Path

from bookkeeping.documents import catalogue

PAGE = (Path(__file__).parents[2] / "docs" / "typewriter.md").read_text("utf-8")
COLUMNS_FOR_SIGNS = {"debit", "credit", "indicator"}


def test_the_page_lists_every_schema_with_its_fields_and_columns():
    listed = {row[0]: row[1:] for row in re.findall(r"^\| `(\w+)` \| ([\w, ]+) \| ([\w, ()]+) \|$", PAGE, re.MULTILINE)}
    for item in catalogue().types.values():
        payload = item.payload
        fields, columns = listed[payload.name]
        names = {field.name for field in payload.fields}
        own = set(re.findall(rf"^\| `{item.code}` \| `{payload.name}` \| ([\w, ]+) \|$", PAGE, re.MULTILINE))
        besides = set(next(iter(own)).split(", ")) if own else set()
        assert set(fields.split(", ")) | besides == names, item.code
        rows = {field.name for field in payload.row_fields}
        rows -= COLUMNS_FOR_SIGNS if payload.name == "bank_statement" else set()
        assert (set() if columns == "(none)" else set(columns.split(", "))) == rows, item.code
