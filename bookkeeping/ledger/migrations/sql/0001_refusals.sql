-- What a writer may not do, whoever the writer is. Each refusal names its own constraint; errors.py maps the
-- names to codes. Checks run once a statement over all its rows, so a COPY pays for them once.

-- Balance and completeness at commit: an entry has exactly the lines that it declares, and they balance.
-- With the check of line numbers below, nothing can be added to a committed entry.
CREATE FUNCTION ledger.refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    present bigint;
    difference numeric;
BEGIN
    SELECT count(*), coalesce(sum(CASE side WHEN 'debit' THEN amount ELSE -amount END), 0)
      INTO present, difference
      FROM ledger.lines WHERE book_id = NEW.book_id AND seq = NEW.seq;
    IF present <> NEW.n_lines THEN
        RAISE EXCEPTION USING ERRCODE = '23514', CONSTRAINT = 'entry_complete',
            MESSAGE = format('entry %s declares %s lines and has %s', NEW.voucher, NEW.n_lines, present);
    END IF;
    IF difference <> 0 THEN
        RAISE EXCEPTION USING ERRCODE = '23514', CONSTRAINT = 'entry_balanced',
            MESSAGE = format('entry %s does not balance: debits less credits are %s', NEW.voucher, difference);
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER entry_balanced AFTER INSERT ON ledger.entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger.refuse_unbalanced();

-- Period and chain of new entries. The share lock keeps a period from being closed under an open transaction.
CREATE FUNCTION ledger.refuse_misplaced_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wrong record;
BEGIN
    PERFORM 1 FROM ledger.periods p
      WHERE (p.book_id, p.first_day) IN
            (SELECT i.book_id, date_trunc('month', i.posting_date::timestamp)::date FROM inserted i)
      FOR SHARE;
    SELECT i.voucher, i.posting_date, p.first_day INTO wrong
      FROM inserted i LEFT JOIN ledger.periods p
        ON p.book_id = i.book_id AND p.first_day = date_trunc('month', i.posting_date::timestamp)::date
     WHERE p.first_day IS NULL OR p.closed_at IS NOT NULL
     ORDER BY i.seq LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '23514',
            CONSTRAINT = CASE WHEN wrong.first_day IS NULL THEN 'entry_period_exists' ELSE 'entry_period_open' END,
            MESSAGE = format('entry %s of %s is in %s', wrong.voucher, wrong.posting_date,
                CASE WHEN wrong.first_day IS NULL THEN 'no period of the book' ELSE 'a closed period' END);
    END IF;
    SELECT i.voucher, i.seq INTO wrong
      FROM inserted i LEFT JOIN ledger.entries e ON e.book_id = i.book_id AND e.seq = i.seq - 1
     WHERE i.prev_hash <> CASE WHEN i.seq = 1 THEN repeat('0', 64) ELSE coalesce(e.hash, '') END
     ORDER BY i.seq LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '23514', CONSTRAINT = 'entry_linked',
            MESSAGE = format('entry %s (seq %s) does not follow the entry before it', wrong.voucher, wrong.seq);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER entry_misplaced AFTER INSERT ON ledger.entries
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_misplaced_entries();

-- Account, currency and scale of new lines.
CREATE FUNCTION ledger.refuse_wrong_lines() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wrong record;
BEGIN
    SELECT i.seq, i.line_no, w.refusal, w.found INTO wrong
      FROM inserted i
      JOIN ledger.books b ON b.book_id = i.book_id
      JOIN ledger.entries e ON e.book_id = i.book_id AND e.seq = i.seq
      JOIN ledger.currencies c ON c.code = b.currency
      JOIN ledger.currencies d ON d.code = i.document_currency
      LEFT JOIN ledger.accounts a ON a.chart_id = b.chart_id AND a.code = i.account
      LEFT JOIN ledger.inactive_accounts x ON x.book_id = i.book_id AND x.code = i.account
     CROSS JOIN LATERAL (SELECT CASE
            WHEN i.line_no > e.n_lines THEN 'line_declared'
            WHEN a.code IS NULL THEN 'line_account_exists'
            WHEN x.code IS NOT NULL THEN 'line_account_active'
            WHEN i.currency <> b.currency THEN 'line_currency_of_book'
            WHEN scale(trim_scale(i.amount)) > c.scale THEN 'line_amount_scale'
            WHEN scale(trim_scale(i.document_amount)) > d.scale THEN 'line_document_amount_scale'
        END AS refusal,
        format('account %s, %s %s, document %s %s',
            i.account, i.amount, i.currency, i.document_amount, i.document_currency) AS found) w
     WHERE w.refusal IS NOT NULL
     ORDER BY i.seq, i.line_no LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '23514', CONSTRAINT = wrong.refusal,
            MESSAGE = format('line %s: %s', wrong.line_no, wrong.found);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER line_wrong AFTER INSERT ON ledger.lines
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_wrong_lines();

-- What is posted stays as it is; so do books, charts and currencies.
CREATE FUNCTION ledger.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = '23001', CONSTRAINT = TG_TABLE_NAME || '_final',
        MESSAGE = format('%s of ledger.%s is refused: corrections are new entries', TG_OP, TG_TABLE_NAME);
END $$;

CREATE TRIGGER entries_final BEFORE UPDATE OR TRUNCATE ON ledger.entries EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER lines_final BEFORE UPDATE OR TRUNCATE ON ledger.lines EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER books_final BEFORE UPDATE OR TRUNCATE ON ledger.books EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER accounts_final BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.accounts
    EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER charts_final BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.charts
    EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER currencies_final BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.currencies
    EXECUTE FUNCTION ledger.refuse_change();
CREATE TRIGGER periods_final BEFORE TRUNCATE ON ledger.periods EXECUTE FUNCTION ledger.refuse_change();

-- A period is closed once and stays closed.
CREATE FUNCTION ledger.refuse_reopening() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.closed_at IS NOT NULL OR NEW.book_id <> OLD.book_id OR NEW.first_day <> OLD.first_day THEN
        RAISE EXCEPTION USING ERRCODE = '23001', CONSTRAINT = 'periods_final',
            MESSAGE = format('period %s is final once closed, and keeps its month', OLD.first_day);
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER period_reopened BEFORE UPDATE ON ledger.periods
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_reopening();
