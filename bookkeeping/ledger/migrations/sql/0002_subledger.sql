-- What a book keeps beside its journal: who may do what, who the parties are, what the documents say. The journal
-- (schema ledger) is hashed and final; these records are neither, which is why they have a schema of their own and why
-- nothing in the journal refers to them. All of them go with their book.
--
-- A book says in `kept` which of these records it keeps: an empty table that is kept means that there is nothing, one
-- that is not kept means that nothing is known.

CREATE SCHEMA subledger;

CREATE TABLE subledger.books (
    book_id bigint PRIMARY KEY REFERENCES ledger.books ON DELETE CASCADE,
    country text NOT NULL,
    kept text[] NOT NULL
);

-- What is known of an entry besides what is hashed. supply_date is the last day of the supply; links_supply says that
-- an accrual, a deferral or a goods receipt voucher bridges the months between supply and posting.
CREATE TABLE subledger.vouchers (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    seq bigint NOT NULL,
    source text NOT NULL CHECK (source IN ('manual', 'subledger', 'import', 'schedule')),
    party_id text,
    requester text,
    supply_date date,
    links_supply boolean NOT NULL DEFAULT false,
    attachment text,
    reverses bigint,
    PRIMARY KEY (book_id, seq)
);
CREATE INDEX vouchers_reversed ON subledger.vouchers (book_id, reverses) WHERE reverses IS NOT NULL;

CREATE TABLE subledger.attachments (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    attachment text NOT NULL,
    PRIMARY KEY (book_id, attachment)
);

-- person: who acts behind the user name; one person may have several. A user without hours has those of the run.
CREATE TABLE subledger.users (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    user_id text NOT NULL,
    person text NOT NULL,
    time_zone text,
    hours_from time,
    hours_to time,
    left_on date,
    disabled_from timestamptz,
    disabled_to timestamptz,
    PRIMARY KEY (book_id, user_id)
);

-- kind: approve_voucher (seq, level), create_supplier, change_bank_details (party_id, old_value, new_value),
-- release_payment (party_id, seq), reopen_period (period), cancel_number (number).
CREATE TABLE subledger.events (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    event_no bigint NOT NULL,
    at timestamptz NOT NULL,
    user_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('approve_voucher', 'create_supplier', 'change_bank_details', 'release_payment',
                                       'reopen_period', 'cancel_number')),
    seq bigint,
    level integer,
    party_id text,
    old_value text,
    new_value text,
    period date,
    number text,
    PRIMARY KEY (book_id, event_no)
);

CREATE TABLE subledger.parties (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    party_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('supplier', 'customer')),
    name text NOT NULL,
    country text NOT NULL,
    tax_number text,
    bank_account text,
    address text,
    phone text,
    director text,
    director_born date,
    is_employee boolean NOT NULL DEFAULT false,
    is_factored boolean NOT NULL DEFAULT false,
    vat_registered boolean,
    PRIMARY KEY (book_id, party_id)
);

CREATE TABLE subledger.employees (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    employee_id text NOT NULL,
    name text NOT NULL,
    born date,
    tax_number text,
    bank_account text,
    address text,
    phone text,
    PRIMARY KEY (book_id, employee_id)
);

-- Invoices and credit notes as they stand on paper, amounts in the document's currency, null where not stated.
-- seq: the entry that recorded it, null for one that another company of the group recorded.
CREATE TABLE subledger.documents (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    document_id text NOT NULL,
    seq bigint,
    kind text NOT NULL CHECK (kind IN ('invoice', 'credit_note', 'rebate_credit_note')),
    direction text NOT NULL CHECK (direction IN ('received', 'issued')),
    company text NOT NULL,
    party_id text NOT NULL,
    number text NOT NULL,
    document_date date NOT NULL,
    tax_point date,
    country text,
    currency text NOT NULL,
    net numeric,
    allowances numeric NOT NULL DEFAULT 0,
    charges numeric NOT NULL DEFAULT 0,
    tax numeric,
    gross numeric NOT NULL,
    prepaid numeric NOT NULL DEFAULT 0,
    rounding numeric NOT NULL DEFAULT 0,
    due numeric,
    prices_include_tax boolean NOT NULL DEFAULT false,
    reference text,
    requester text,
    framework text,
    is_service boolean NOT NULL DEFAULT false,
    is_reverse_charge boolean NOT NULL DEFAULT false,
    is_margin_scheme boolean NOT NULL DEFAULT false,
    PRIMARY KEY (book_id, document_id)
);

-- price_per: the number of units that unit_price is for (100, 1000).
CREATE TABLE subledger.document_lines (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    document_id text NOT NULL,
    line_no integer NOT NULL,
    net numeric,
    gross numeric,
    order_id text,
    order_line integer,
    quantity numeric,
    unit_price numeric,
    price_per numeric NOT NULL DEFAULT 1,
    PRIMARY KEY (book_id, document_id, line_no)
);

CREATE TABLE subledger.document_taxes (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    document_id text NOT NULL,
    rate numeric NOT NULL,
    base numeric NOT NULL,
    vat numeric NOT NULL,
    n_lines integer NOT NULL DEFAULT 1,
    PRIMARY KEY (book_id, document_id, rate)
);

CREATE TABLE subledger.tax_rates (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    country text NOT NULL,
    rate numeric NOT NULL,
    valid_from date NOT NULL,
    valid_to date,
    PRIMARY KEY (book_id, country, rate, valid_from)
);

-- is_undone: reversed, refunded or returned by the bank.
CREATE TABLE subledger.payments (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    payment_id text NOT NULL,
    seq bigint,
    party_id text NOT NULL,
    paid_on date NOT NULL,
    amount numeric NOT NULL,
    currency text NOT NULL,
    invoice_ref text,
    account_paid text,
    is_undone boolean NOT NULL DEFAULT false,
    PRIMARY KEY (book_id, payment_id)
);

-- amount in book currency, debit positive.
CREATE TABLE subledger.open_items (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    item_id text NOT NULL,
    account text NOT NULL,
    party_id text,
    posting_date date NOT NULL,
    amount numeric NOT NULL,
    seq bigint,
    PRIMARY KEY (book_id, item_id)
);

-- The balance table: debits less credits of an account.
CREATE TABLE subledger.balances (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    account text NOT NULL,
    balance numeric NOT NULL,
    PRIMARY KEY (book_id, account)
);

CREATE TABLE subledger.holidays (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    day date NOT NULL,
    PRIMARY KEY (book_id, day)
);

-- quantity: in positive, out negative.
CREATE TABLE subledger.stock_moves (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    move_no bigint NOT NULL,
    item text NOT NULL,
    location text NOT NULL,
    moved_on date NOT NULL,
    quantity numeric NOT NULL,
    seq bigint,
    PRIMARY KEY (book_id, move_no)
);

CREATE TABLE subledger.orders (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    order_id text NOT NULL,
    line_no integer NOT NULL,
    quantity numeric NOT NULL,
    unit_price numeric NOT NULL,
    price_per numeric NOT NULL DEFAULT 1,
    PRIMARY KEY (book_id, order_id, line_no)
);

CREATE TABLE subledger.receipts (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    receipt_no bigint NOT NULL,
    order_id text NOT NULL,
    order_line integer NOT NULL,
    received_on date NOT NULL,
    quantity numeric NOT NULL,
    PRIMARY KEY (book_id, receipt_no)
);

CREATE TABLE subledger.statements (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    account text NOT NULL,
    number integer NOT NULL,
    statement_date date NOT NULL,
    opening numeric NOT NULL,
    closing numeric NOT NULL,
    PRIMARY KEY (book_id, account, number)
);

-- seq: the entry that the line was matched with, null for a line that is not in the book.
CREATE TABLE subledger.statement_lines (
    book_id bigint NOT NULL REFERENCES subledger.books ON DELETE CASCADE,
    account text NOT NULL,
    number integer NOT NULL,
    line_no integer NOT NULL,
    amount numeric NOT NULL,
    seq bigint,
    PRIMARY KEY (book_id, account, number, line_no)
);

-- The journal with what is known of its entries.
CREATE VIEW subledger.journal AS
SELECT e.book_id, e.seq, e.voucher, e.document_type, e.document_number, e.document_date, e.posting_date, e.posted_at,
       e.posted_by, v.source, v.party_id, v.requester, v.supply_date, coalesce(v.links_supply, false) AS links_supply,
       v.attachment, v.reverses,
       v.reverses IS NOT NULL OR e.document_type = 'reversal_voucher' AS is_reversal,
       r.reverses IS NOT NULL AS is_reversed
  FROM ledger.entries e
  LEFT JOIN subledger.vouchers v USING (book_id, seq)
  LEFT JOIN (SELECT DISTINCT book_id, reverses FROM subledger.vouchers WHERE reverses IS NOT NULL) r
    ON r.book_id = e.book_id AND r.reverses = e.seq;

-- The amount of a voucher is the sum of its debits.
CREATE VIEW subledger.voucher_amounts AS
SELECT book_id, seq, sum(amount) FILTER (WHERE side = 'debit') AS amount FROM ledger.lines GROUP BY book_id, seq;

GRANT USAGE ON SCHEMA subledger TO ledger_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA subledger TO ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA subledger GRANT SELECT ON TABLES TO ledger_reader;
