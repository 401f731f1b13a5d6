-- Reference data: filled from currencies.json and chart.json after the migration, only ever added to.

CREATE TABLE ledger.currencies (
    code text PRIMARY KEY CHECK (code ~ '^[A-Z]{3}$'),
    scale smallint NOT NULL CHECK (scale BETWEEN 0 AND 4)
);

-- A chart is shared by all books that keep their accounts by it, so that a new book copies nothing.
CREATE TABLE ledger.charts (
    chart_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest text NOT NULL UNIQUE
);

CREATE TABLE ledger.accounts (
    chart_id integer NOT NULL REFERENCES ledger.charts,
    code text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    normal_balance text NOT NULL CHECK (normal_balance IN ('debit', 'credit')),
    PRIMARY KEY (chart_id, code)
);

-- One row: this database belongs to the evaluation harness and holds nothing but its throw-away books.
CREATE TABLE ledger.harness_marker (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    set_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE ledger.books (
    book_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chain text NOT NULL CONSTRAINT books_chain_once UNIQUE,
    company text NOT NULL,
    currency text NOT NULL CONSTRAINT books_currency_known REFERENCES ledger.currencies,
    time_zone text NOT NULL,
    chart_id integer NOT NULL REFERENCES ledger.charts,
    kind text NOT NULL CONSTRAINT books_kind_known CHECK (kind IN ('live', 'eval')),
    owner text,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (book_id, chart_id),
    CONSTRAINT books_text_nfc CHECK (chain <> '' AND chain IS NFC NORMALIZED AND company IS NFC NORMALIZED),
    CONSTRAINT books_eval_has_owner CHECK ((kind = 'eval') = (owner IS NOT NULL))
);
CREATE INDEX books_owner ON ledger.books (owner) WHERE kind = 'eval';

-- Accounts of a book's chart that are closed for posting in that book.
CREATE TABLE ledger.inactive_accounts (
    book_id bigint NOT NULL,
    chart_id integer NOT NULL,
    code text NOT NULL,
    PRIMARY KEY (book_id, code),
    FOREIGN KEY (book_id, chart_id) REFERENCES ledger.books (book_id, chart_id),
    CONSTRAINT inactive_account_in_chart FOREIGN KEY (chart_id, code) REFERENCES ledger.accounts
);

-- Fiscal periods are calendar months.
CREATE TABLE ledger.periods (
    book_id bigint NOT NULL REFERENCES ledger.books,
    first_day date NOT NULL CHECK (extract(day FROM first_day) = 1),
    last_day date NOT NULL GENERATED ALWAYS AS ((first_day + interval '1 month' - interval '1 day')::date) STORED,
    closed_at timestamptz,
    PRIMARY KEY (book_id, first_day)
);

CREATE TABLE ledger.entries (
    book_id bigint NOT NULL REFERENCES ledger.books,
    seq bigint NOT NULL CHECK (seq BETWEEN 1 AND 9007199254740991),
    version smallint NOT NULL CHECK (version = 1),
    key text NOT NULL,
    voucher text NOT NULL,
    document_type text NOT NULL,
    document_number text,
    document_date date,
    posting_date date NOT NULL,
    posted_at timestamptz NOT NULL,
    posted_by text NOT NULL,
    text text NOT NULL,
    n_lines integer NOT NULL CONSTRAINT entry_has_two_lines CHECK (n_lines >= 2),
    prev_hash text NOT NULL CONSTRAINT entry_prev_hash_form CHECK (prev_hash ~ '^[0-9a-f]{64}$'),
    hash text NOT NULL CONSTRAINT entry_hash_form CHECK (hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT entry_key_once UNIQUE (key, book_id),
    CONSTRAINT entry_voucher_once UNIQUE (voucher, book_id),
    CONSTRAINT entry_dates_in_range CHECK (
        posting_date BETWEEN '0001-01-01' AND '9999-12-31' AND document_date BETWEEN '0001-01-01' AND '9999-12-31'
        AND posted_at BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00'
    ),
    CONSTRAINT entry_names_given CHECK (key <> '' AND voucher <> '' AND document_type <> '' AND posted_by <> ''),
    CONSTRAINT entry_text_nfc CHECK (
        key IS NFC NORMALIZED AND voucher IS NFC NORMALIZED AND document_type IS NFC NORMALIZED
        AND document_number IS NFC NORMALIZED AND posted_by IS NFC NORMALIZED AND text IS NFC NORMALIZED
    )
);

-- Last of the table's indexes: where a young table's statistics make all of them equally cheap, the planner takes the
-- last one, and the per-row checks look up by position.
ALTER TABLE ledger.entries ADD PRIMARY KEY (book_id, seq);

-- NaN and infinity are greater than every number in Postgres: the upper bound is what refuses them.
CREATE TABLE ledger.lines (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    line_no integer NOT NULL CHECK (line_no >= 1),
    account text NOT NULL,
    side text NOT NULL CONSTRAINT line_side_known CHECK (side IN ('debit', 'credit')),
    amount numeric NOT NULL
        CONSTRAINT line_amount_above_zero CHECK (amount > 0)
        CONSTRAINT line_amount_in_range CHECK (amount < 1000000000000000000),
    currency text NOT NULL,
    document_amount numeric NOT NULL
        CONSTRAINT line_document_amount_not_negative CHECK (document_amount >= 0)
        CONSTRAINT line_document_amount_in_range CHECK (document_amount < 1000000000000000000),
    document_currency text NOT NULL CONSTRAINT line_document_currency_known REFERENCES ledger.currencies,
    text text CONSTRAINT line_text_nfc CHECK (text IS NFC NORMALIZED),
    PRIMARY KEY (book_id, seq, line_no),
    CONSTRAINT line_of_entry FOREIGN KEY (book_id, seq) REFERENCES ledger.entries,
    CONSTRAINT line_amounts_agree CHECK (currency <> document_currency OR amount = document_amount)
);
