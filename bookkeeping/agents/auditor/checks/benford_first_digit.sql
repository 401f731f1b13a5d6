WITH amounts AS MATERIALIZED (
    SELECT l.amount
      FROM subledger.journal j
      JOIN ledger.lines l USING (book_id, seq)
     WHERE j.book_id = %(book_id)s AND j.posting_date BETWEEN %(first_day)s AND %(last_day)s
       AND l.side = 'debit' AND l.amount <> 0
       AND NOT j.is_reversal AND NOT j.is_reversed
       AND j.document_type NOT IN ('opening_balance_schedule', 'year_end_closing')
), size AS (
    SELECT count(*) AS n, min(abs(amount)) AS smallest, max(abs(amount)) AS largest FROM amounts
), digits AS (
    SELECT d, log(1 + 1 / d::numeric)::float8 AS e, coalesce(o.n, 0)::float8 / nullif(s.n, 0) AS p, s.n::float8 AS n
      FROM generate_series(1, 9) AS d
     CROSS JOIN size s
      LEFT JOIN (SELECT left(ltrim(abs(amount)::text, '0.'), 1)::int AS d, count(*) AS n
                   FROM amounts GROUP BY 1) o USING (d)
), judged AS (
    SELECT avg(abs(p - e)) AS mad, sum(n * (p - e) ^ 2 / e) AS chi2,
           coalesce(array_agg(d ORDER BY p - e DESC) FILTER (
                        WHERE p > e AND (p - e - 1 / (2 * nullif(n, 0))) / sqrt(e * (1 - e) / nullif(n, 0)) > 2.576),
                    (array_agg(d ORDER BY abs(p - e) DESC))[1:1]) AS worst
      FROM digits
)
SELECT extract(year FROM %(first_day)s::date)::int::text AS population, s.n, round(j.mad::numeric, 6) AS mad,
       round(j.chi2::numeric, 2) AS chi2, j.worst AS worst_digits, NULL::text[] AS voucher_ids, a.severity, a.reason
  FROM size s
 CROSS JOIN judged j
 CROSS JOIN LATERAL (
       SELECT CASE WHEN s.n < %(min_n)s THEN 'not_run'
                   WHEN s.largest / s.smallest < 10::numeric ^ %(min_orders_of_magnitude)s::int THEN 'not_run'
                   WHEN j.chi2 <= %(chi2_critical)s OR j.mad < 0.006 THEN NULL
                   WHEN j.mad < 0.012 THEN 'low'
                   WHEN j.mad < 0.015 OR s.n < %(full_n)s THEN 'medium'
                   ELSE 'high' END AS severity,
              CASE WHEN s.n < %(min_n)s THEN format('%%s amounts are too few', s.n)
                   ELSE 'the amounts span too few orders of magnitude' END AS reason
       ) a
 WHERE a.severity IS NOT NULL
