-- The harness's throw-away books: only in a database that carries its marker, and only they can be dropped.

CREATE FUNCTION ledger.refuse_marker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE ledger.books IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT 1 FROM ledger.books WHERE kind = 'live') THEN
        RAISE EXCEPTION USING ERRCODE = '23514', CONSTRAINT = 'marker_without_live_books',
            MESSAGE = 'this database holds live books: it cannot be given to the evaluation harness';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER marker_without_live_books BEFORE INSERT ON ledger.harness_marker
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_marker();

CREATE FUNCTION ledger.refuse_mixed_books() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    marked boolean := EXISTS (SELECT 1 FROM ledger.harness_marker);
BEGIN
    IF NEW.kind = 'eval' AND NOT marked THEN
        RAISE EXCEPTION USING ERRCODE = '23514', CONSTRAINT = 'eval_book_needs_marker',
            MESSAGE = 'this database does not carry the evaluation harness''s marker';
    ELSIF NEW.kind = 'live' AND marked THEN
        RAISE EXCEPTION USING ERRCODE = '23514', CONSTRAINT = 'live_book_needs_no_marker',
            MESSAGE = 'this database belongs to the evaluation harness: live books are refused';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER book_mixed BEFORE INSERT ON ledger.books
    FOR EACH ROW EXECUTE FUNCTION ledger.refuse_mixed_books();

CREATE FUNCTION ledger.refuse_delete_of_live_books() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM removed WHERE kind <> 'eval')
       OR (EXISTS (SELECT 1 FROM removed) AND NOT EXISTS (SELECT 1 FROM ledger.harness_marker)) THEN
        RAISE EXCEPTION USING ERRCODE = '23001', CONSTRAINT = 'books_final',
            MESSAGE = 'only eval books are dropped, and only where the harness''s marker is';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER book_deleted AFTER DELETE ON ledger.books
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_delete_of_live_books();

CREATE FUNCTION ledger.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM (SELECT DISTINCT book_id FROM removed) r
                WHERE (SELECT kind FROM ledger.books WHERE book_id = r.book_id LIMIT 1) IS DISTINCT FROM 'eval')
       OR (EXISTS (SELECT 1 FROM removed) AND NOT EXISTS (SELECT 1 FROM ledger.harness_marker)) THEN
        RAISE EXCEPTION USING ERRCODE = '23001', CONSTRAINT = TG_TABLE_NAME || '_final',
            MESSAGE = format('DELETE of ledger.%s is refused: corrections are new entries', TG_TABLE_NAME);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER entry_deleted AFTER DELETE ON ledger.entries
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_delete();
CREATE TRIGGER line_deleted AFTER DELETE ON ledger.lines
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_delete();
CREATE TRIGGER period_deleted AFTER DELETE ON ledger.periods
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_delete();

-- Drops whole books in one call; the triggers above judge it like every other delete.
CREATE FUNCTION ledger.drop_books(dropped bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    DELETE FROM ledger.lines WHERE book_id = ANY (dropped);
    DELETE FROM ledger.entries WHERE book_id = ANY (dropped);
    DELETE FROM ledger.periods WHERE book_id = ANY (dropped);
    DELETE FROM ledger.inactive_accounts WHERE book_id = ANY (dropped);
    DELETE FROM ledger.books WHERE book_id = ANY (dropped);
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;

-- The advisory lock that the owner of eval books holds for as long as its session lives.
CREATE FUNCTION ledger.lease_of(owner text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
    RETURN hashtextextended(owner, 7310);
