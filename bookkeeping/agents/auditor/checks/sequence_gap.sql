-- Series: numbers of documents that we issue, voucher numbers, positions in the chain whose links are intact. A prefix
-- without a year that begins again each year is a series a year.
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
), parsed AS (
    SELECT kind, seq, voucher, number, year, substring(number FROM '^(.*?)[0-9]+$') AS prefix,
           substring(number FROM '([0-9]+)$') AS digits
      FROM numbers WHERE number ~ '[0-9]$'
), kinds AS (
    SELECT prefix, min(kind) FILTER (WHERE kind <> 'cancelled') AS kind,
           prefix !~ '(19|20)[0-9][0-9]'
           AND count(*) FILTER (WHERE kind <> 'cancelled')
               > count(DISTINCT digits::numeric) FILTER (WHERE kind <> 'cancelled')
           AND count(*) FILTER (WHERE kind <> 'cancelled')
               = count(DISTINCT (year, digits::numeric)) FILTER (WHERE kind <> 'cancelled') AS is_yearly
      FROM parsed GROUP BY prefix
), members AS (
    SELECT k.kind, p.prefix, CASE WHEN k.is_yearly THEN p.year END AS year, p.digits::numeric AS n,
           max(length(p.digits)) AS width, count(*) FILTER (WHERE p.kind <> 'cancelled') AS times,
           array_agg(p.voucher ORDER BY p.seq) FILTER (WHERE p.voucher IS NOT NULL) AS vouchers
      FROM parsed p JOIN kinds k USING (prefix)
     WHERE k.kind IS NOT NULL
     GROUP BY k.kind, p.prefix, 3, p.digits::numeric
), gaps AS (
    SELECT *, lag(n) OVER (PARTITION BY prefix, year ORDER BY n) AS before,
           lag(vouchers) OVER (PARTITION BY prefix, year ORDER BY n) AS vouchers_before
      FROM members
), broken AS (
    SELECT * FROM gaps WHERE n > before + 1 OR times > 1
), missing AS (
    SELECT prefix, year, array_agg(prefix || lpad(m::text, greatest(width, length(m::text)), '0') ORDER BY m) AS numbers
      FROM broken CROSS JOIN LATERAL generate_series(before + 1, n - 1) AS m
     GROUP BY prefix, year
), repeated AS (
    SELECT prefix, year, array_agg(prefix || lpad(n::text, greatest(width, length(n::text)), '0') ORDER BY n) AS numbers
      FROM broken WHERE times > 1 GROUP BY prefix, year
), touched AS (
    SELECT prefix, year, min(kind) AS kind,
           (SELECT array_agg(DISTINCT v ORDER BY v) FROM broken o
             CROSS JOIN unnest(CASE WHEN o.n > o.before + 1 THEN o.vouchers_before || o.vouchers ELSE o.vouchers END) AS v
             WHERE o.prefix = b.prefix AND o.year IS NOT DISTINCT FROM b.year) AS vouchers
      FROM broken b GROUP BY prefix, year
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
