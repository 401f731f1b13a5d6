"""A book of debit amounts whose first digits follow Benford's law, or not; it keeps nothing beside its journal."""

import random
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from bookkeeping.ledger import Line

from .draft import Draft, at, entry, only

FIRST_DAY = date(2025, 1, 2)
CENT = Decimal("0.01")


def draft(parameters: Mapping[str, Any]) -> Draft:
    """``n`` sales whose amounts are spread evenly over ``orders`` orders of magnitude from 10.00 on, which is the law.

    ``moved`` of them, drawn at random with ``seed``, become amounts of 4,900.00 to 4,999.99. ``reversed`` true: each of
    those is reversed. ``of_type`` is the document type of the moved ones. ``drawn`` true: the amounts
    are drawn at random by the law instead, as real ones are.
    """
    only(parameters, "n", "orders", "moved", "seed", "to", "reversed", "of_type", "drawn")
    chance = random.Random(parameters.get("seed", 1))  # noqa: S311 - a book is drawn, not a secret
    n, orders = parameters["n"], parameters.get("orders", 3)
    places = [chance.random() * n for _ in range(n)] if parameters.get("drawn") else range(n)
    amounts = [(Decimal(10) ** (1 + Decimal(orders * k) / n)).quantize(CENT) for k in places]
    moved = set(chance.sample(range(n), parameters.get("moved", 0)))
    first = Decimal(parameters.get("to", "4900.00"))
    made = Draft(kept=("vouchers",) if parameters.get("reversed") else ())
    for place, amount in enumerate(amounts):
        day = FIRST_DAY + timedelta(days=place * 300 // n)
        is_moved = place in moved
        booked = first + Decimal(chance.randrange(10_000)) / 100 if is_moved else amount
        kind = parameters.get("of_type", "sales_invoice") if is_moved else "sales_invoice"
        made.add(entry(kind, day, _sale(booked)), at(day))
        if is_moved and parameters.get("reversed"):
            made.add(entry("reversal_voucher", day, _sale(booked, "credit", "debit")), at(day, "11:00"),
                     reverses=made.next_seq - 1)  # fmt: skip
    if not made.kept:
        made.records["vouchers"].clear()
    return made


def _sale(amount: Decimal, one: Any = "debit", other: Any = "credit") -> tuple[Line, Line]:
    return Line("1110", one, amount), Line("4010", other, amount)
