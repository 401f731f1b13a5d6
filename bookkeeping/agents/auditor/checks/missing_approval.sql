WITH limits AS (
    SELECT key::int AS level, value::numeric AS amount FROM jsonb_each_text(%(limits)s)
), approvals AS (
    SELECT a.seq, a.at, a.user_id, a.level FROM subledger.events a
     WHERE a.book_id = %(book_id)s AND a.kind = 'approve_voucher'
), judged AS (
    SELECT j.seq, j.voucher, j.posted_at, t.amount, coalesce(max(a.level), 0) AS level
      FROM subledger.journal j
      JOIN subledger.voucher_amounts t USING (book_id, seq)
      LEFT JOIN approvals a ON a.seq = j.seq AND a.at <= j.posted_at
     WHERE j.book_id = %(book_id)s AND NOT j.is_reversal AND NOT j.is_reversed
       AND t.amount > (SELECT amount FROM limits WHERE level = 0)
     GROUP BY j.seq, j.voucher, j.posted_at, t.amount
)
SELECT j.voucher AS voucher_id, j.amount, l.amount AS limit,
       (SELECT min(r.level) FROM limits r WHERE r.amount IS NULL OR r.amount >= j.amount) AS required_level,
       coalesce((SELECT jsonb_agg(jsonb_build_object('user', a.user_id, 'level', a.level) ORDER BY a.at)
                   FROM approvals a WHERE a.seq = j.seq AND a.at <= j.posted_at), '[]') AS approvals,
       'high' AS severity, ARRAY[j.voucher] AS voucher_ids
  FROM judged j JOIN limits l USING (level)
 WHERE j.amount > l.amount
 ORDER BY j.seq
