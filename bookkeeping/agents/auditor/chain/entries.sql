-- Each entry with the canonical JSON of its payload (bookkeeping/ledger/canonical.py), built by the database from the
-- stored columns: to_json escapes exactly what the canonical form escapes. A value that has no canonical form becomes
-- U+0001, which no canonical text has, so it can never be hashed to a match. Decimals of currencies are those of the
-- code, not those of a table that could be changed together with the entries.
WITH scales AS MATERIALIZED (
    SELECT * FROM unnest(%(currencies)s::text[], %(scales)s::int[]) AS known (code, scale)
), bodies AS (
    SELECT l.seq, string_agg(
        '{"account":' || to_json(l.account)
        || ',"amount":"' || CASE WHEN round(l.amount, c.scale) = l.amount AND l.amount < 1e18
                                 THEN round(l.amount, c.scale)::text ELSE E'\x01' END
        || '","currency":' || to_json(l.currency)
        || ',"document_amount":"' || CASE WHEN round(l.document_amount, d.scale) = l.document_amount
                                                AND l.document_amount < 1e18
                                          THEN round(l.document_amount, d.scale)::text ELSE E'\x01' END
        || '","document_currency":' || to_json(l.document_currency)
        || ',"side":' || to_json(l.side)
        || ',"text":' || coalesce(to_json(l.text)::text, 'null') || '}',
        ',' ORDER BY l.line_no) AS lines
      FROM ledger.lines l
      LEFT JOIN scales c ON c.code = l.currency
      LEFT JOIN scales d ON d.code = l.document_currency
     WHERE l.book_id = %(book_id)s
     GROUP BY l.seq
)
SELECT e.seq, e.version, e.prev_hash, e.hash,
       '{"chain":' || to_json(%(chain)s::text)
       || ',"document_date":' || coalesce('"' || e.document_date || '"', 'null')
       || ',"document_number":' || coalesce(to_json(e.document_number)::text, 'null')
       || ',"document_type":' || to_json(e.document_type)
       || ',"lines":[' || coalesce(b.lines, '')
       || '],"posted_at":"' || coalesce(nullif(to_char(e.posted_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), ''), E'\x01')
       || '","posted_by":' || to_json(e.posted_by)
       || ',"posting_date":"' || e.posting_date
       || '","seq":' || e.seq
       || ',"text":' || to_json(e.text)
       || ',"version":' || e.version
       || ',"voucher":' || to_json(e.voucher) || '}'
  FROM ledger.entries e
  LEFT JOIN bodies b USING (seq)
 WHERE e.book_id = %(book_id)s
 ORDER BY e.seq
