-- Readers see everything and change nothing. Roles belong to the whole server: another database may be creating
-- the same one at this moment.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'ledger_reader') THEN
        CREATE ROLE ledger_reader NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;

GRANT USAGE ON SCHEMA ledger TO ledger_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA ledger TO ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA ledger GRANT SELECT ON TABLES TO ledger_reader;
