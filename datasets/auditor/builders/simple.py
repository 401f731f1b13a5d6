"""A book of sales to customers on account and nothing else; it keeps nothing beside its journal.

For what is done to the chain: every entry is the same but for its day, number and amount.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from bookkeeping.ledger import Line, currency_scale

from .draft import Draft, at, entry, only

FIRST_DAY = date(2025, 1, 6)


def draft(parameters: Mapping[str, Any]) -> Draft:
    """``n`` entries; entry k is posted on the k-th day and has ``lines`` debit lines over 100.00 each (100 yen).

    ``text`` is that of every entry and line; ``currency`` and ``time_zone`` are those of the book. ``foreign`` is a
    currency in which the documents state the same figures. ``numbers`` false: documents without a
    number. ``kept`` names records that the book is said to keep, all of them empty.
    """
    only(parameters, "n", "lines", "text", "currency", "time_zone", "foreign", "numbers", "cents", "kept")
    made = Draft(kept=tuple(parameters.get("kept", ())), currency=parameters.get("currency", "EUR"),
                 time_zone=parameters.get("time_zone", "Europe/Berlin"))  # fmt: skip
    amount = Decimal(100).quantize(Decimal(1).scaleb(-currency_scale(made.currency)))
    amount += Decimal(parameters.get("cents", "0"))
    n_lines = parameters.get("lines", 1)
    stated = (amount, parameters["foreign"]) if "foreign" in parameters else (None, None)
    total = (amount * n_lines, parameters["foreign"]) if "foreign" in parameters else (None, None)
    for number in range(1, parameters["n"] + 1):
        day = FIRST_DAY + timedelta(days=number - 1)
        booked = [Line("1110", "debit", amount, *stated, text=parameters.get("text")) for _ in range(n_lines)]
        booked.append(Line("4010", "credit", amount * n_lines, *total))
        made.add(
            entry("sales_invoice", day, booked, text=parameters.get("text", f"sale {number}"),
                  document_number=f"INV-2025-{number:04d}" if parameters.get("numbers", True) else None),
            at(day, "10:00", "UTC") + timedelta(microseconds=123456),
        )  # fmt: skip
    made.records["vouchers"].clear()
    return made
