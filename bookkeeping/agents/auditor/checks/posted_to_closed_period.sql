SELECT e.voucher AS voucher_id, e.posting_date, e.posted_at AS created_at, p.closed_at AS lock_time,
       e.posted_by AS user, 'high' AS severity, ARRAY[e.voucher] AS voucher_ids
  FROM ledger.periods p
  JOIN ledger.entries e ON e.book_id = p.book_id AND e.posting_date BETWEEN p.first_day AND p.last_day
 WHERE p.book_id = %(book_id)s AND p.closed_at < e.posted_at
   AND NOT EXISTS (SELECT 1 FROM subledger.events o
                    WHERE o.book_id = p.book_id AND o.kind = 'reopen_period' AND o.period = p.first_day
                      AND o.at BETWEEN p.closed_at AND e.posted_at)
 ORDER BY e.seq
