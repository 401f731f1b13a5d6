SELECT e.voucher AS voucher_id, t.debit AS debit_total, t.credit AS credit_total, t.debit - t.credit AS difference,
       'critical' AS severity, ARRAY[e.voucher] AS voucher_ids
  FROM (SELECT seq, coalesce(sum(amount) FILTER (WHERE side = 'debit'), 0) AS debit,
               coalesce(sum(amount) FILTER (WHERE side = 'credit'), 0) AS credit
          FROM ledger.lines WHERE book_id = %(book_id)s GROUP BY seq) t
  JOIN ledger.entries e ON e.book_id = %(book_id)s AND e.seq = t.seq
 WHERE t.debit <> t.credit
 ORDER BY e.seq
