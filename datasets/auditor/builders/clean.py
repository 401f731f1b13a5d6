"""A large book in which nothing is wrong: sales, purchases and their payments over one year, by the hundred a week.

It keeps every record. Amounts are spread evenly over four orders of magnitude, so that their first digits
follow Benford's law; every user does one kind of work; every supplier invoices about four times a year.
"""

import random
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from bookkeeping.ledger import Line

from .company import standing_records, totals
from .draft import Draft, at, entry, only, signed

CENT = Decimal("0.01")
N_SUPPLIERS = 400
LEVELS = ((Decimal(1000), 1), (Decimal(10000), 2), (Decimal(100000), 3))


def draft(parameters: Mapping[str, Any]) -> Draft:
    """``n`` entries: the opening of the bank account, then in threes a sale, a purchase and its payment."""
    only(parameters, "n", "seed")
    n, chance = parameters["n"], random.Random(parameters["seed"])  # noqa: S311 - a book is drawn, not a secret
    made = Draft()
    standing_records(made)
    for number in range(1, N_SUPPLIERS + 1):
        made.record("parties", party_id=f"L-{number}", kind="supplier", name=f"Supplier {number}", country="DE",
                    bank_account=f"DE{number:020d}", vat_registered=True)  # fmt: skip
    days = _workdays(2025)
    _post(made, "opening_balance_schedule", days[0], "U2", _lines("1040 3010", Decimal(50_000_000)))
    amounts = [(Decimal(10) ** (1 + Decimal(4 * k) / n)).quantize(CENT) for k in range(n)]
    chance.shuffle(amounts)
    for k in range(n - 1):
        day = days[k * len(days) // n]
        if k % 3 == 0:
            _sale(made, k, day, amounts[k])
        elif k % 3 == 1:
            _purchase(made, k, day, amounts[k])
        else:
            _payment(made, k, day)
    _statement(made)
    totals(made, {})
    return made


def _workdays(year: int) -> list[date]:
    days = [date(year, 1, 2) + timedelta(days=k) for k in range(364)]
    return [day for day in days if day.isoweekday() <= 5 and day.year == year]


def _lines(accounts: str, *amounts: Decimal) -> tuple[Line, ...]:
    """A line an account: debits but for the last, which is the credit of all."""
    *debits, credit = accounts.split()
    booked = [Line(account, "debit", amount) for account, amount in zip(debits, amounts, strict=True)]
    return (*booked, Line(credit, "credit", sum(amounts, Decimal(0))))


def _post(made: Draft, kind: str, day: date, user: str, booked: tuple[Line, ...], **more: Any) -> int:
    clock = f"{8 + made.next_seq % 9:02d}:{made.next_seq % 60:02d}"
    seq = made.next_seq
    made.record("attachments", attachment=f"scan-{seq}")
    made.add(
        entry(kind, day, booked, posted_by=user, document_number=more.get("number")), at(day, clock),
        party_id=more.get("party"), supply_date=day, attachment=f"scan-{seq}",
    )  # fmt: skip
    amount = sum(line.amount for line in booked if line.side == "debit")
    levels = [level for limit, level in LEVELS if amount > limit]
    if levels:
        made.event("approve_voucher", at(day, "07:00"), "U9", seq=seq, level=levels[-1])
    for line_no, line in enumerate(booked, 1):
        if line.account in ("1110", "2010"):
            made.record("open_items", item_id=f"{seq}-{line_no}", account=line.account, posting_date=day,
                        amount=signed(line), seq=seq)  # fmt: skip
    return seq


def _sale(made: Draft, k: int, day: date, net: Decimal) -> None:
    tax = (net * 19 / 100).quantize(CENT)
    number = f"INV-2025-{k // 3 + 1:05d}"
    booked = (Line("1110", "debit", net + tax), Line("4010", "credit", net), Line("2210", "credit", tax))
    seq = _post(made, "sales_invoice", day, "U1", booked, number=number, party=f"C-{k % 2 + 1}")
    _document(made, number, seq, f"C-{k % 2 + 1}", "issued", day, net, tax)


def _purchase(made: Draft, k: int, day: date, net: Decimal) -> None:
    tax, party = (net * 19 / 100).quantize(CENT), f"L-{k // 3 % N_SUPPLIERS + 1}"
    seq = _post(made, "supplier_invoice", day, "U2", _lines("6160 1410 2010", net, tax), number=f"B{k}", party=party)
    _document(made, f"B{k}", seq, party, "received", day, net, tax)


def _payment(made: Draft, k: int, day: date) -> None:
    bought = made.records["documents"][-1]
    seq = _post(made, "bank_statement", day, "U3", _lines("2010 1040", bought["gross"]), party=bought["party_id"])
    made.record("payments", payment_id=f"PAY-{k}", seq=seq, party_id=bought["party_id"], paid_on=day,
                amount=bought["gross"], currency="EUR", invoice_ref=bought["number"],
                account_paid=f"DE{int(bought['party_id'][2:]):020d}")  # fmt: skip
    made.event("release_payment", at(day, "07:30"), "U4", seq=seq, party_id=bought["party_id"])


def _document(
    made: Draft, number: str, seq: int, party: str, direction: str, day: date, net: Decimal, tax: Decimal
) -> None:
    made.record("documents", document_id=number, seq=seq, kind="invoice", direction=direction, company=made.company,
                party_id=party, number=number, document_date=day, tax_point=day, country="DE", currency="EUR",
                net=net, tax=tax, gross=net + tax, due=net + tax, requester="U5")  # fmt: skip
    made.record("document_lines", document_id=number, line_no=1, net=net)
    made.record("document_taxes", document_id=number, rate="19", base=net, vat=tax, n_lines=1)


def _statement(made: Draft) -> None:
    made.record("statements", account="1040", number=1, statement_date=date(2025, 12, 31), opening=Decimal(0),
                closing=made.balance("1040"))  # fmt: skip
    moved = [(seq, line) for seq, item in enumerate(made.entries, 1) for line in item.entry.lines
             if line.account == "1040"]  # fmt: skip
    for line_no, (seq, line) in enumerate(moved, 1):
        made.record("statement_lines", account="1040", number=1, line_no=line_no, amount=signed(line), seq=seq)
