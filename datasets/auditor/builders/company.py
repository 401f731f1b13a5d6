"""A small company in 2025: thirty entries in which nothing is wrong, and what an example adds to them.

The company keeps everything that a check may ask for. Entry 1 is the opening, 2 and 3 fill the tills, then each month
from January to September has a sale (4, 7, 10 ...), a purchase (5, 8, 11 ...) and its payment (6, 9, 12 ...).

What an example adds comes after it: entry 31, 32 ... in the order of ``entries``, as V-000031, V-000032 ... The records
that go with an entry follow from it, unless the example says otherwise: a scan is attached, user U9 (who may approve
any amount) approves what is above 1,000.00 an hour before it is posted, lines on 1110 and 2010 are open items, and the
table of balances is that of the journal. Everything else that an example needs is in ``records``, by table.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from bookkeeping.ledger import Entry

from .draft import Draft, at, entry, lines, only, signed

ENTRY = (
    "type", "on", "lines", "at", "by", "text", "number", "document_date", "source", "party", "requester", "supply",
    "links_supply", "attachment", "approved", "reverses", "voucher", "open_items",
)  # fmt: skip
PARAMETERS = (
    "entries", "records", "change", "balances", "open_items", "closed", "not_kept", "time_zone", "currency", "country",
    "repeat", "base",
)  # fmt: skip
APPROVAL_LIMIT = Decimal("1000.00")
DATES = {"on", "paid_on", "document_date", "posting_date", "moved_on", "received_on", "statement_date", "tax_point",
         "day", "left_on", "born", "director_born", "valid_from", "valid_to", "period"}  # fmt: skip
TIMES = {"at", "disabled_from", "disabled_to"}


def draft(parameters: Mapping[str, Any]) -> Draft:
    """The company's book with what the example adds.

    entries: objects with the keys of ENTRY. repeat: objects with ``n``, ``every`` (days) and an ``entry`` that is added
    n times, its day moved on, ``{k}`` in its texts and number replaced by 1 to n. records: rows to add, by table.
    change: rows to change, by table: each is matched by the columns of ``where`` and gets those of ``set``; without
    ``set`` it is left out. balances, open_items: what is added to the balance of an account in the table, and open
    items that no line gave rise to. closed: lock time by first day. not_kept: tables that the company does not keep.
    base: false leaves out the thirty entries and all that goes with them.
    """
    only(parameters, *PARAMETERS)
    made = Draft(currency=parameters.get("currency", "EUR"), time_zone=parameters.get("time_zone", "Europe/Berlin"),
                 country=parameters.get("country", "DE"))  # fmt: skip
    standing_records(made)
    if parameters.get("base", True):
        _year(made)
    for spec in parameters.get("entries", ()):
        add_entry(made, spec)
    for item in parameters.get("repeat", ()):
        for k in range(1, item["n"] + 1):
            add_entry(made, _kth(item["entry"], k, item["every"]))
    for table, rows in parameters.get("records", {}).items():
        for row in rows:
            _add_record(made, table, _typed(row, made.time_zone))
    for table, changes in parameters.get("change", {}).items():
        for item in changes:
            _change(made.records[table], item, made.time_zone)
    totals(made, parameters)
    made.closed = {
        date.fromisoformat(day): _moment(lock, made.time_zone) for day, lock in parameters.get("closed", {}).items()
    }
    made.kept = tuple(name for name in made.kept if name not in parameters.get("not_kept", ()))
    return made


def add_entry(made: Draft, spec: Mapping[str, Any]) -> int:
    """Adds one entry with the records that go with it."""
    only(spec, *ENTRY)
    day = date.fromisoformat(spec["on"])
    posted_at = _moment(spec["at"], made.time_zone) if "at" in spec else at(day, "10:00", made.time_zone)
    seq = made.next_seq
    document_date = spec.get("document_date", spec["on"])
    booked: Entry = entry(
        spec["type"], day, lines(spec["lines"]),
        posted_by=spec.get("by", "U1"), text=spec.get("text", spec["type"].replace("_", " ")),
        document_number=spec["number"] if "number" in spec else _next_number(made, spec["type"]),
        document_date=date.fromisoformat(document_date) if document_date else None,
        voucher=spec.get("voucher"),
    )  # fmt: skip
    attachment = spec.get("attachment", f"scan-{seq}")
    if "attachment" not in spec:
        made.record("attachments", attachment=attachment)
    made.add(
        booked, posted_at, source=spec.get("source", "subledger"), party_id=spec.get("party"),
        requester=spec.get("requester"), supply_date=spec.get("supply") and date.fromisoformat(spec["supply"]),
        links_supply=spec.get("links_supply", False), attachment=attachment, reverses=spec.get("reverses"),
    )  # fmt: skip
    _approve(made, seq, booked, posted_at, spec)
    if spec.get("open_items", True):
        for line_no, line in enumerate(booked.lines, 1):
            if line.account in ("1110", "2010"):
                made.record("open_items", item_id=f"{seq}-{line_no}", account=line.account, posting_date=day,
                            amount=signed(line), seq=seq)  # fmt: skip
    return seq


def _approve(made: Draft, seq: int, booked: Entry, posted_at: datetime, spec: Mapping[str, Any]) -> None:
    amount = sum(line.amount for line in booked.lines if line.side == "debit")
    if "approved" in spec:
        for user, level, *when in spec["approved"]:
            moment = _moment(when[0], made.time_zone) if when else posted_at - timedelta(hours=1)
            made.event("approve_voucher", moment, user, seq=seq, level=level)
    elif amount > APPROVAL_LIMIT:
        made.event("approve_voucher", posted_at - timedelta(hours=1), "U9", seq=seq, level=3)


def _next_number(made: Draft, document_type: str) -> str | None:
    if document_type != "sales_invoice":
        return None
    return f"INV-2025-{1 + sum(item.entry.document_type == document_type for item in made.entries):04d}"


def _kth(spec: Mapping[str, Any], k: int, every: int) -> dict[str, Any]:
    moved = dict(spec)
    moved["on"] = (date.fromisoformat(spec["on"]) + timedelta(days=every * (k - 1))).isoformat()
    return {name: value.replace("{k}", str(k)) if isinstance(value, str) else value for name, value in moved.items()}


def _add_record(made: Draft, table: str, row: dict[str, Any]) -> None:
    if table == "events":
        row = {"event_no": len(made.records["events"]) + 1, **row}
    made.record(table, **row)


def _change(rows: list[dict[str, Any]], item: Mapping[str, Any], zone: str) -> None:
    where = _typed(item["where"], zone)
    found = [row for row in rows if all(row.get(name) == value for name, value in where.items())]
    if not found:
        raise ValueError(f"there is no row with {where}")
    for row in found:
        if "set" in item:
            row.update(_typed(item["set"], zone))
        else:
            rows.remove(row)


def _typed(row: Mapping[str, Any], zone: str) -> dict[str, Any]:
    return {name: _value(name, value, zone) for name, value in row.items()}


def _value(name: str, value: Any, zone: str) -> Any:
    if value is None:
        return None
    if name in TIMES:
        return _moment(value, zone)
    return date.fromisoformat(value) if name in DATES else value


def _moment(text: str, zone: str) -> datetime:
    """A local time of the book such as 2025-03-04T10:00, or one that says its offset."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else at(moment.date(), moment.time().isoformat(), zone)


def totals(made: Draft, parameters: Mapping[str, Any]) -> None:
    for row in parameters.get("open_items", ()):
        made.record("open_items", **_typed(row, made.time_zone))
    off = {account: Decimal(amount) for account, amount in parameters.get("balances", {}).items()}
    sums = made.balances()
    for account in sorted(sums | off):
        made.record("balances", account=account, balance=sums.get(account, Decimal(0)) + off.get(account, 0))


def standing_records(made: Draft) -> None:
    for number in range(1, 10):
        made.record("users", user_id=f"U{number}", person=f"person {number}")
    suppliers = (
        ("S-1", "Birch & Co KG", "DE", "DE136695976", "DE02 1203 0000 0000 2020 51"),
        ("S-2", "Papeterie du Quai SARL", "FR", "FR40303265045", "FR14 2004 1010 0505 0001 3M02 606"),
        ("S-3", "Alpen Werkzeug GmbH", "AT", "ATU13585627", "AT61 1904 3002 3457 3201"),
    )  # fmt: skip
    for party, name, country, tax_number, bank in suppliers:
        made.record("parties", party_id=party, kind="supplier", name=name, country=country, tax_number=tax_number,
                    bank_account=bank, address=f"{name}, Main Street {party[-1]}", phone=f"+49 30 900{party[-1]}",
                    vat_registered=True)  # fmt: skip
    for number, name in ((1, "Heron Retail Ltd"), (2, "Osprey Stores Ltd")):
        made.record("parties", party_id=f"C-{number}", kind="customer", name=name, country="DE",
                    address=f"{name}, Market Square {number}", phone=f"+49 40 800{number}")  # fmt: skip
    for number, name in ((1, "Ada Linden"), (2, "Ben Esche")):
        made.record("employees", employee_id=f"E-{number}", name=name, born=date(1980 + number, 5, 17),
                    bank_account=f"DE99 5001 0517 000{number}", tax_number=f"8609574271{number}",
                    address=f"Lime Grove {number}", phone=f"+49 30 700{number}")  # fmt: skip
    for country, rates in (("DE", ("19", "7", "0")), ("FR", ("20", "0")), ("AT", ("20", "0"))):
        for rate in rates:
            made.record("tax_rates", country=country, rate=rate, valid_from=date(2021, 1, 1))
    for day in (date(2025, 1, 1), date(2025, 5, 1), date(2025, 10, 3), date(2025, 12, 25), date(2025, 12, 26)):
        made.record("holidays", day=day)
    made.record("orders", order_id="PO-1", line_no=1, quantity=100, unit_price="4.00")
    made.record("receipts", receipt_no=1, order_id="PO-1", order_line=1, received_on=date(2025, 1, 10), quantity=100)
    made.record("stock_moves", move_no=1, item="bolt", location="main", moved_on=date(2025, 1, 10), quantity=100)


def _year(made: Draft) -> None:
    add_entry(made, {"type": "opening_balance_schedule", "on": "2025-01-02", "by": "U2",
                     "lines": "1040 D 50000.00, 3010 C 50000.00"})  # fmt: skip
    add_entry(made, {"type": "bank_statement", "on": "2025-01-03", "lines": "1020 D 300.00, 1040 C 300.00"})
    add_entry(made, {"type": "bank_statement", "on": "2025-01-03", "lines": "1010 D 200.00, 1040 C 200.00"})
    for month in range(1, 10):
        _month(made, month)
    statement = {"account": "1040", "number": 1}
    closing = made.balance("1040")
    made.record("statements", **statement, statement_date=date(2025, 9, 30), opening=Decimal(0), closing=closing)
    for line_no, (seq, amount) in enumerate(_bank_lines(made), 1):
        made.record("statement_lines", **statement, line_no=line_no, amount=amount, seq=seq)


def _bank_lines(made: Draft) -> list[tuple[int, Decimal]]:
    return [(seq, signed(line)) for seq, item in enumerate(made.entries, 1) for line in item.entry.lines
            if line.account == "1040"]  # fmt: skip


def _month(made: Draft, month: int) -> None:
    """The figures are such that tax comes out even: 19 % of a multiple of 100 is whole, of 20 it has one decimal."""
    customer, supplier = f"C-{month % 2 + 1}", f"S-{month % 3 + 1}"
    net, day = Decimal(1100 + 20 * month), _workday(date(2025, month, 6))
    tax = net * 19 / 100
    seq = add_entry(made, {"type": "sales_invoice", "on": day.isoformat(), "party": customer, "by": "U1",
                           "supply": day.isoformat(),
                           "lines": f"1110 D {net + tax:.2f}, 4010 C {net:.2f}, 2210 C {tax:.2f}"})  # fmt: skip
    document(made, f"INV-2025-{month:04d}", seq, customer, "issued", day, net, tax)
    net, day = Decimal(420 + 20 * month), _workday(date(2025, month, 12))
    tax = net * 19 / 100
    number = f"R-{4700 + 31 * month}"
    seq = add_entry(made, {"type": "supplier_invoice", "on": day.isoformat(), "party": supplier, "by": "U2",
                           "number": number, "supply": day.isoformat(),
                           "lines": f"6160 D {net:.2f}, 1410 D {tax:.2f}, 2010 C {net + tax:.2f}"})  # fmt: skip
    document(made, number, seq, supplier, "received", day, net, tax)
    paid = _workday(date(2025, month, 21))
    seq = add_entry(made, {"type": "bank_statement", "on": paid.isoformat(), "party": supplier, "by": "U3",
                           "lines": f"2010 D {net + tax:.2f}, 1040 C {net + tax:.2f}"})  # fmt: skip
    account = next(row["bank_account"] for row in made.records["parties"] if row["party_id"] == supplier)
    made.record("payments", payment_id=f"PAY-{month}", seq=seq, party_id=supplier, paid_on=paid, amount=net + tax,
                currency=made.currency, invoice_ref=number, account_paid=account)  # fmt: skip
    made.event("release_payment", at(paid, "09:30"), "U4", seq=seq, party_id=supplier)


def document(
    made: Draft, number: str, seq: int, party: str, direction: str, day: date, net: Decimal, tax: Decimal
) -> None:
    """The paper behind an invoice of one line at 19 %."""
    made.record("documents", document_id=number, seq=seq, kind="invoice", direction=direction, company=made.company,
                party_id=party, number=number, document_date=day, tax_point=day, country="DE", currency=made.currency,
                net=net, tax=tax, gross=net + tax, due=net + tax, requester="U5")  # fmt: skip
    made.record("document_lines", document_id=number, line_no=1, net=net)
    made.record("document_taxes", document_id=number, rate="19", base=net, vat=tax, n_lines=1)


def _workday(day: date) -> date:
    while day.isoweekday() > 5:
        day += timedelta(days=1)
    return day
