-- Series: numbers of documents that we issue, voucher numbers, positions in the chain whose links are intact. A prefix
-- without a year that begins again each year is a series a year. Only series whose numbers do not simply rise by one are
-- looked at closely.
WITH numbers AS (
    SELECT 'issued' AS kind, d.seq, d.voucher, d.document_number AS number, extract(year FROM d.posting_date)::int AS year
      FROM ledger.entries d
     WHERE d.book_id = %(book_id)s AND %(issued_types)s ? d.document_type AND d.document_number IS NOT NULL
    UNION ALL
    SELECT 'voucher', seq, voucher, voucher, extract(year FROM posting_date)::int
      FROM ledger.entries WHERE book_id = %(book_id)s
    UNION ALL
    SELECT 'cancelled', NULL, NULL, number, extract(year FROM at)::int
      FROM subledger.events WHERE book_id = %(book_id)s AND kind = 'cancel_number'
), parsed AS MATERIALIZED (
    SELECT kind, seq, voucher, year, rtrim(number, '0123456789') AS prefix,
           length(number) - length(rtrim(number, '0123456789')) AS width,
           substr(number, length(rtrim(number, '0123456789')) + 1)::bigint AS n
      FROM numbers
     WHERE length(number) - length(rtrim(number, '0123456789')) BETWEEN 1 AND 18
), suspect AS (
    SELECT DISTINCT prefix
      FROM (SELECT prefix, n - lag(n) OVER (PARTITION BY prefix ORDER BY n) AS step FROM parsed) steps
     WHERE step <> 1
), counted AS MATERIALIZED (
    SELECT prefix, year, n, max(width) AS width,
           min(kind) FILTER (WHERE kind <> 'cancelled') AS kind, count(*) FILTER (WHERE kind <> 'cancelled') AS times
      FROM parsed JOIN suspect USING (prefix) GROUP BY prefix, year, n
), kinds AS (
    SELECT prefix, min(kind) AS kind,
           prefix !~ '(19|20)[0-9][0-9]' AND max(years) > 1 AND max(times) = 1 AS is_yearly
      FROM (SELECT prefix, n, min(kind) AS kind, count(*) FILTER (WHERE times > 0) AS years, max(times) AS times
              FROM counted GROUP BY prefix, n) numbered
     GROUP BY prefix
), members AS (
    SELECT k.kind, c.prefix, CASE WHEN k.is_yearly THEN c.year END AS year, c.n, max(c.width) AS width,
           sum(c.times) AS times
      FROM counted c JOIN kinds k USING (prefix)
     WHERE k.kind IS NOT NULL
     GROUP BY k.kind, c.prefix, 3, c.n
), gaps AS (
    SELECT *, lag(n) OVER (PARTITION BY prefix, year ORDER BY n) AS before FROM members
), broken AS MATERIALIZED (
    SELECT * FROM gaps WHERE n > before + 1 OR times > 1
), missing AS (
    SELECT prefix, year, array_agg(prefix || lpad(m::text, greatest(width, length(m::text)), '0') ORDER BY m) AS numbers
      FROM broken CROSS JOIN LATERAL generate_series(before + 1, n - 1) AS m
     GROUP BY prefix, year
), repeated AS (
    SELECT prefix, year, array_agg(prefix || lpad(n::text, greatest(width, length(n::text)), '0') ORDER BY n) AS numbers
      FROM broken WHERE times > 1 GROUP BY prefix, year
), touched AS (
    SELECT b.prefix, b.year, min(b.kind) AS kind, array_agg(DISTINCT p.voucher ORDER BY p.voucher) AS vouchers
      FROM broken b
      JOIN parsed p ON p.prefix = b.prefix AND (b.year IS NULL OR p.year = b.year) AND p.voucher IS NOT NULL
                   AND (p.n = b.n OR b.n > b.before + 1 AND p.n = b.before)
     GROUP BY b.prefix, b.year
), chain AS (
    SELECT seq, voucher, lag(seq) OVER w AS before, lag(voucher) OVER w AS voucher_before,
           prev_hash = lag(hash) OVER w AS is_linked
      FROM ledger.entries WHERE book_id = %(book_id)s
    WINDOW w AS (ORDER BY seq)
), holes AS (
    SELECT * FROM chain WHERE seq > before + 1 AND is_linked
)
SELECT t.prefix || coalesce(t.year::text, '') AS series, coalesce(m.numbers, '{}') AS missing_numbers,
       coalesce(r.numbers, '{}') AS repeated_numbers,
       CASE WHEN t.kind = 'issued' THEN 'medium' ELSE 'low' END AS severity, t.vouchers AS voucher_ids
  FROM touched t
  LEFT JOIN missing m ON m.prefix = t.prefix AND m.year IS NOT DISTINCT FROM t.year
  LEFT JOIN repeated r ON r.prefix = t.prefix AND r.year IS NOT DISTINCT FROM t.year
UNION ALL
SELECT 'chain positions', array_agg(m::text ORDER BY m), '{}', 'low',
       (SELECT array_agg(v ORDER BY v) FROM (SELECT DISTINCT unnest(ARRAY[o.voucher_before, o.voucher]) AS v FROM holes o) e)
  FROM holes CROSS JOIN LATERAL generate_series(before + 1, seq - 1) AS m
HAVING count(*) > 0
 ORDER BY series
