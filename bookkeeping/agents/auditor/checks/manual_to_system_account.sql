SELECT j.voucher AS voucher_id, l.account, sum(l.amount) AS amount, j.posted_by AS user, 'medium' AS severity,
       ARRAY[j.voucher] AS voucher_ids
  FROM subledger.journal j
  JOIN ledger.lines l USING (book_id, seq)
 WHERE j.book_id = %(book_id)s AND j.document_type = 'journal_voucher' AND j.source = 'manual'
   AND %(accounts)s ? l.account
   AND NOT j.is_reversal AND NOT j.is_reversed
   AND NOT EXISTS (SELECT 1 FROM subledger.events a
                    WHERE a.book_id = j.book_id AND a.kind = 'approve_voucher' AND a.seq = j.seq
                      AND a.at <= j.posted_at)
 GROUP BY j.seq, j.voucher, l.account, j.posted_by
 ORDER BY j.seq, l.account
