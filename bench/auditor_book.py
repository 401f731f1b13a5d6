"""A book of any size in a database, written by COPY as it is made: sales, purchases, payments, and all records.

Its rows are those that the ledger would have written (the audit verifies every hash); nothing in it is wrong.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from itertools import islice
from typing import Any

import psycopg

from bookkeeping.ledger import Book
from bookkeeping.ledger.sealing import ENTRY_COLUMNS, LINE_COLUMNS

CHUNK = 20_000
N_SUPPLIERS = 20_000
FIRST_DAY = date(2025, 1, 1)
DAYS = 360

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class MadeEntry:
    """One entry before it is sealed: kind, number, amounts in cents by account (debit positive)."""

    kind: str
    number: str
    user: str
    cents: tuple[tuple[str, int], ...]


def made_entry(seq: int, n: int) -> MadeEntry:
    """The entry at a position: 1 opens the bank account, then in threes a sale, a purchase and its payment."""
    if seq == 1:
        return MadeEntry("opening_balance_schedule", "O-1", "U2", (("1040", 10**14), ("3010", -(10**14))))
    third, place = divmod(seq - 2, 3)
    # 7919 is prime to n, so every amount of the law's scale comes once, in no order that a user would have.
    net = int(10 ** (3 + 4 * (third * 7919 % n) / n))
    tax = (net * 19 + 50) // 100
    if place == 0:
        booked = (("1110", net + tax), ("4010", -net), ("2210", -tax))
        return MadeEntry("sales_invoice", f"INV-2025-{third + 1:07d}", "U1", booked)
    if place == 1:
        booked = (("6160", net), ("1410", tax), ("2010", -net - tax))
        return MadeEntry("supplier_invoice", f"B{third}", "U2", booked)
    return MadeEntry("bank_statement", f"PAY-{third}", "U3", (("2010", net + tax), ("1040", -net - tax)))


def write_journal(connection: psycopg.Connection[Any], book: Book, n: int) -> None:
    """Writes ``n`` entries with the triggers off."""
    connection.execute("SET session_replication_role = replica")
    rows = _rows(book, n)
    while chunk := list(islice(rows, CHUNK)):
        with connection.transaction():
            _copy(connection, "ledger.entries", ENTRY_COLUMNS, (head for head, _ in chunk))
            _copy(connection, "ledger.lines", LINE_COLUMNS, (line for _, lines in chunk for line in lines))


def _copy(connection: psycopg.Connection[Any], table: str, columns: tuple[str, ...], rows: Iterator[Row]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _rows(book: Book, n: int) -> Iterator[tuple[Row, list[Row]]]:
    before = "0" * 64
    for seq in range(1, n + 1):
        made = made_entry(seq, n)
        day = FIRST_DAY + timedelta(days=(seq - 1) * DAYS // n)
        posted_at = f"{day}T{9 + seq % 8:02d}:{seq % 60:02d}:{seq // 60 % 60:02d}.{seq % 1_000_000:06d}Z"
        lines = [(account, "debit" if cents > 0 else "credit", _money(abs(cents))) for account, cents in made.cents]
        body = ",".join(
            f'{{"account":"{account}","amount":"{amount}","currency":"EUR","document_amount":"{amount}",'
            f'"document_currency":"EUR","side":"{side}","text":null}}'
            for account, side, amount in lines
        )
        text = (
            f'{{"chain":{json.dumps(book.chain)},"document_date":"{day}","document_number":"{made.number}",'
            f'"document_type":"{made.kind}","lines":[{body}],"posted_at":"{posted_at}","posted_by":"{made.user}",'
            f'"posting_date":"{day}","seq":{seq},"text":"{made.kind} {seq}","version":1,"voucher":"V-{seq:07d}"}}'
        )
        digest = sha256(f"{before}\n{text}".encode()).hexdigest()
        head = (
            book.book_id, seq, 1, f"k{seq}", f"V-{seq:07d}", made.kind, made.number, day, day, posted_at, made.user,
            f"{made.kind} {seq}", len(lines), before, digest,
        )  # fmt: skip
        rows: list[Row] = [
            (book.book_id, seq, line_no, account, side, amount, "EUR", amount, "EUR", None)
            for line_no, (account, side, amount) in enumerate(lines, 1)
        ]
        before = digest
        yield head, rows


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


_RECORDS = (
    "INSERT INTO subledger.books VALUES (%(b)s, 'DE', ARRAY['vouchers', 'attachments', 'users', 'events', 'parties',"
    " 'employees', 'documents', 'document_lines', 'document_taxes', 'tax_rates', 'payments', 'open_items', 'balances',"
    " 'holidays', 'stock_moves', 'orders', 'receipts', 'statements', 'statement_lines'])",
    "INSERT INTO subledger.parties (book_id, party_id, kind, name, country, bank_account, vat_registered)"
    " SELECT %(b)s, 'S-' || k, 'supplier', 'Supplier ' || k, 'DE', 'DE' || lpad(k::text, 20, '0'), true"
    " FROM generate_series(0, %(suppliers)s - 1) k",
    "INSERT INTO subledger.parties (book_id, party_id, kind, name, country)"
    " VALUES (%(b)s, 'C-1', 'customer', 'C', 'DE')",
    "INSERT INTO subledger.employees (book_id, employee_id, name, bank_account)"
    " SELECT %(b)s, 'E-' || k, 'Employee ' || k, 'AT' || k FROM generate_series(1, 100) k",
    "INSERT INTO subledger.users (book_id, user_id, person) SELECT %(b)s, 'U' || k, 'person ' || k"
    " FROM generate_series(1, 9) k",
    "INSERT INTO subledger.tax_rates VALUES (%(b)s, 'DE', 19, '2021-01-01')",
    "INSERT INTO subledger.vouchers (book_id, seq, source, party_id, supply_date, attachment)"
    " SELECT %(b)s, seq,"
    "        CASE WHEN seq %% 50 = 0 AND extract(isodow FROM posting_date) < 6 THEN 'manual' ELSE 'subledger' END,"
    "        CASE WHEN document_type = 'sales_invoice' THEN 'C-1' ELSE 'S-' || ((seq - 2) / 3) %% %(suppliers)s END,"
    "        posting_date, 'scan-' || seq FROM ledger.entries WHERE book_id = %(b)s",
    "INSERT INTO subledger.attachments SELECT %(b)s, 'scan-' || seq FROM ledger.entries WHERE book_id = %(b)s",
    "INSERT INTO subledger.events (book_id, event_no, at, user_id, kind, seq, level)"
    " SELECT %(b)s, e.seq, e.posted_at - interval '1 hour', 'U9', 'approve_voucher', e.seq, 3"
    "   FROM ledger.entries e JOIN subledger.voucher_amounts a USING (book_id, seq)"
    "  WHERE e.book_id = %(b)s AND a.amount > 1000",
    "INSERT INTO subledger.documents (book_id, document_id, seq, kind, direction, company, party_id, number,"
    "        document_date, country, currency, net, tax, gross, due, requester)"
    " SELECT %(b)s, e.document_number, e.seq, 'invoice',"
    "        CASE e.document_type WHEN 'sales_invoice' THEN 'issued' ELSE 'received' END, %(company)s, v.party_id,"
    "        e.document_number, e.posting_date, 'DE', 'EUR',"
    "        sum(l.amount) FILTER (WHERE l.account IN ('4010', '6160')),"
    "        sum(l.amount) FILTER (WHERE l.account IN ('2210', '1410')),"
    "        sum(l.amount) FILTER (WHERE l.account IN ('1110', '2010')),"
    "        sum(l.amount) FILTER (WHERE l.account IN ('1110', '2010')), 'U5'"
    "   FROM ledger.entries e JOIN ledger.lines l USING (book_id, seq) JOIN subledger.vouchers v USING (book_id, seq)"
    "  WHERE e.book_id = %(b)s AND e.document_type IN ('sales_invoice', 'supplier_invoice')"
    "  GROUP BY e.seq, e.document_number, e.document_type, v.party_id, e.posting_date",
    "INSERT INTO subledger.document_lines (book_id, document_id, line_no, net)"
    " SELECT book_id, document_id, 1, net FROM subledger.documents WHERE book_id = %(b)s",
    "INSERT INTO subledger.document_taxes (book_id, document_id, rate, base, vat)"
    " SELECT book_id, document_id, 19, net, tax FROM subledger.documents WHERE book_id = %(b)s",
    "INSERT INTO subledger.payments (book_id, payment_id, seq, party_id, paid_on, amount, currency, invoice_ref,"
    "        account_paid)"
    " SELECT %(b)s, e.document_number, e.seq, v.party_id, e.posting_date, l.amount, 'EUR', 'B' || (e.seq - 2) / 3,"
    "        'DE' || lpad(substring(v.party_id FROM 3), 20, '0')"
    "   FROM ledger.entries e JOIN subledger.vouchers v USING (book_id, seq)"
    "   JOIN ledger.lines l ON l.book_id = e.book_id AND l.seq = e.seq AND l.account = '1040'"
    "  WHERE e.book_id = %(b)s AND e.document_type = 'bank_statement'",
    "INSERT INTO subledger.open_items (book_id, item_id, account, posting_date, amount, seq)"
    " SELECT %(b)s, l.seq || '-' || l.line_no, l.account, e.posting_date,"
    "        CASE l.side WHEN 'debit' THEN l.amount ELSE -l.amount END, l.seq"
    "   FROM ledger.lines l JOIN ledger.entries e USING (book_id, seq)"
    "  WHERE l.book_id = %(b)s AND l.account IN ('1110', '2010')",
    "INSERT INTO subledger.balances SELECT %(b)s, account, sum(CASE side WHEN 'debit' THEN amount ELSE -amount END)"
    " FROM ledger.lines WHERE book_id = %(b)s GROUP BY account",
    "INSERT INTO subledger.statement_lines SELECT %(b)s, '1040', 1, row_number() OVER (ORDER BY seq),"
    "        CASE side WHEN 'debit' THEN amount ELSE -amount END, seq"
    "   FROM ledger.lines WHERE book_id = %(b)s AND account = '1040'",
    "INSERT INTO subledger.statements SELECT %(b)s, '1040', 1, '2025-12-31', 0, sum(amount)"
    " FROM subledger.statement_lines WHERE book_id = %(b)s",
)


def write_records(connection: psycopg.Connection[Any], book: Book) -> None:
    """Writes what the book keeps beside its journal, then gathers statistics as a database in use would have them."""
    connection.execute("SET session_replication_role = replica")
    for statement in _RECORDS:
        parameters = {"b": book.book_id, "suppliers": N_SUPPLIERS, "company": book.company}
        connection.execute(statement.encode(), parameters)
    connection.execute("SET session_replication_role = origin")
    connection.execute("VACUUM ANALYZE")
