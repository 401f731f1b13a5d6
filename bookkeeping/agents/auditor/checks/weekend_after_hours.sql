WITH local AS (
    SELECT j.seq, j.voucher, j.posted_by, j.source,
           j.posted_at AT TIME ZONE coalesce(u.time_zone, %(zone)s) AS created_at,
           coalesce(u.hours_from, %(hours_from)s::time) AS hours_from, coalesce(u.hours_to, %(hours_to)s::time) AS hours_to
      FROM subledger.journal j
      LEFT JOIN subledger.users u ON u.book_id = j.book_id AND u.user_id = j.posted_by
     WHERE j.book_id = %(book_id)s AND %(sources)s ? j.source
), judged AS (
    SELECT l.*, CASE WHEN NOT %(work_days)s @> to_jsonb(extract(isodow FROM created_at)::int) THEN 'weekend'
                     WHEN EXISTS (SELECT 1 FROM subledger.holidays h
                                   WHERE h.book_id = %(book_id)s AND h.day = created_at::date) THEN 'holiday'
                     WHEN created_at::time < hours_from OR created_at::time >= hours_to THEN 'hours' END AS reason
      FROM local l
), found AS MATERIALIZED (
    SELECT * FROM judged WHERE reason IS NOT NULL
), amounts AS (
    SELECT seq, sum(amount) AS amount FROM ledger.lines
     WHERE book_id = %(book_id)s AND side = 'debit' AND seq IN (SELECT seq FROM found) GROUP BY seq
)
SELECT voucher AS voucher_id, to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS') AS created_at_local, reason,
       posted_by AS user, source, CASE WHEN amount > %(materiality)s THEN 'medium' ELSE 'low' END AS severity,
       ARRAY[voucher] AS voucher_ids
  FROM found JOIN amounts USING (seq) ORDER BY seq
