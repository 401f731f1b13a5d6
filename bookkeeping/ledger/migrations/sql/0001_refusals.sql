-- What a writer may not do, whoever the writer is. Each refusal names its own constraint; errors.py maps the
-- names to codes. Checks run once a statement over all its rows, so a COPY pays for them once. They look other
-- tables up by subqueries with LIMIT, which the planner leaves alone: statistics of a young or emptied table say that
-- it is tiny, and a join planned by them reads the whole book for every new row.

-- Balance and completeness at commit: an entry has exactly the lines that it declares, and they balance.
-- Line numbers run from 1 to that number (see below), so nothing can be added to a committed entry.
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
      FROM inserted i
      LEFT JOIN LATERAL (
            SELECT first_day, closed_at FROM ledger.periods
             WHERE book_id = i.book_id AND first_day = date_trunc('month', i.posting_date::timestamp)::date LIMIT 1
           ) p ON true
     WHERE p.first_day IS NULL OR p.closed_at IS NOT NULL
     ORDER BY i.seq LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = '23514',
            CONSTRAINT = CASE WHEN wrong.first_day IS NULL THEN 'entry_period_exists' ELSE 'entry_period_open' END,
            MESSAGE = format('entry %s of %s is in %s', wrong.voucher, wrong.posting_date,
                CASE WHEN wrong.first_day IS NULL THEN 'no period of the book' ELSE 'a closed period' END);
    END IF;
    SELECT i.voucher, i.seq INTO wrong
      FROM (SELECT book_id, seq, voucher, prev_hash, lag(seq) OVER chain AS seq_before, lag(hash) OVER chain AS hash_before
              FROM inserted WINDOW chain AS (PARTITION BY book_id ORDER BY seq)) i
     WHERE i.prev_hash <> CASE
               WHEN i.seq = 1 THEN repeat('0', 64)
               WHEN i.seq_before = i.seq - 1 THEN i.hash_before
               ELSE coalesce(
                   (SELECT hash FROM ledger.entries WHERE book_id = i.book_id AND seq = i.seq - 1 LIMIT 1), '')
           END
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
     CROSS JOIN LATERAL (
            SELECT currency, chart_id FROM ledger.books WHERE book_id = i.book_id LIMIT 1
           ) b
     CROSS JOIN LATERAL (SELECT CASE
            WHEN i.line_no > (SELECT n_lines FROM ledger.entries WHERE book_id = i.book_id AND seq = i.seq LIMIT 1)
                THEN 'line_declared'
            WHEN NOT EXISTS (SELECT FROM ledger.accounts WHERE chart_id = b.chart_id AND code = i.account LIMIT 1)
                THEN 'line_account_exists'
            WHEN EXISTS (SELECT FROM ledger.inactive_accounts WHERE book_id = i.book_id AND code = i.account LIMIT 1)
                THEN 'line_account_active'
            WHEN i.currency <> b.currency THEN 'line_currency_of_book'
            WHEN scale(trim_scale(i.amount)) > (SELECT scale FROM ledger.currencies WHERE code = b.currency LIMIT 1)
                THEN 'line_amount_scale'
            WHEN scale(trim_scale(i.document_amount))
                 > (SELECT scale FROM ledger.currencies WHERE code = i.document_currency LIMIT 1)
                THEN 'line_document_amount_scale'
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
