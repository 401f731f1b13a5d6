-- The history of a day is the history_days before it. A percentile is the least value that so many per cent of the
-- days with entries do not exceed.
WITH entries AS MATERIALIZED (
    SELECT seq, voucher, posted_by, day, since,
           day > left_on OR posted_at >= disabled_from AND posted_at < coalesce(disabled_to, 'infinity') AS is_departed
      FROM (SELECT j.seq, j.voucher, j.posted_by, j.posted_at, u.left_on, u.disabled_from, u.disabled_to,
                   (j.posted_at AT TIME ZONE coalesce(u.time_zone, %(zone)s))::date AS day,
                   coalesce(u.left_on, u.disabled_from::date) AS since
              FROM subledger.journal j
              LEFT JOIN subledger.users u ON u.book_id = j.book_id AND u.user_id = j.posted_by
             WHERE j.book_id = %(book_id)s AND NOT j.is_reversal AND NOT j.is_reversed) dated
), departed AS (
    SELECT posted_by, min(day) AS day, min(since) AS since, array_agg(voucher ORDER BY seq) AS vouchers
      FROM entries WHERE is_departed GROUP BY posted_by
), days AS MATERIALIZED (
    SELECT posted_by, day, count(*) AS n FROM entries GROUP BY posted_by, day
), busy AS (
    SELECT d.*, h.baseline
      FROM days d
     CROSS JOIN LATERAL (
           SELECT percentile_disc(%(percentile)s / 100.0) WITHIN GROUP (ORDER BY o.n) AS baseline, sum(o.n) AS total
             FROM days o
            WHERE o.posted_by = d.posted_by AND o.day < d.day AND o.day >= d.day - %(history_days)s::int) h
     WHERE d.n >= %(min_volume)s AND h.total >= %(min_entries)s AND d.n > h.baseline
), busiest AS (
    SELECT DISTINCT ON (posted_by) *, ARRAY(SELECT e.voucher FROM entries e
                                             WHERE e.posted_by = busy.posted_by AND e.day = busy.day
                                             ORDER BY e.seq) AS vouchers
      FROM busy ORDER BY posted_by, n DESC, day
), used AS (
    SELECT e.posted_by, l.account, min(e.day) AS first_day FROM entries e
      JOIN ledger.lines l ON l.book_id = %(book_id)s AND l.seq = e.seq
     GROUP BY e.posted_by, l.account
), fresh AS (
    SELECT u.posted_by, u.account, u.first_day
      FROM used u
     WHERE (SELECT sum(o.n) FROM days o
             WHERE o.posted_by = u.posted_by AND o.day < u.first_day AND o.day >= u.first_day - %(history_days)s::int)
           >= %(min_entries)s
), new_accounts AS (
    SELECT f.posted_by, array_agg(DISTINCT f.account ORDER BY f.account) AS accounts,
           (SELECT array_agg(DISTINCT e.voucher ORDER BY e.voucher) FROM fresh g
              JOIN entries e ON e.posted_by = g.posted_by AND e.day = g.first_day
              JOIN ledger.lines l ON l.book_id = %(book_id)s AND l.seq = e.seq AND l.account = g.account
             WHERE g.posted_by = f.posted_by) AS vouchers
      FROM fresh f GROUP BY f.posted_by
)
SELECT posted_by AS user, 'departed' AS metric, day::text AS value, since::text AS baseline,
       vouchers[1:10] AS sample_ids, 'critical' AS severity, vouchers AS voucher_ids
  FROM departed
UNION ALL
SELECT posted_by, 'volume', n::text, baseline::text, vouchers[1:10], 'medium', vouchers FROM busiest
UNION ALL
SELECT posted_by, 'new_account', array_to_string(accounts, ', '), NULL, vouchers[1:10], 'low', vouchers
  FROM new_accounts
 ORDER BY 1, 2
