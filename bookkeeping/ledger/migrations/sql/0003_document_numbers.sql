-- The entries of a document, by its number. Partial: only a query by number can use it, so the plans of the per-row
-- checks, which look up by position, stay as they are (see the indexes in 0001_tables.sql).
CREATE INDEX entries_document ON ledger.entries (document_number, book_id, seq) WHERE document_number IS NOT NULL;
