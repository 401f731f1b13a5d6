SELECT o.account, o.item_id, %(audit_date)s::date - o.posting_date AS age_days, o.amount,
       CASE WHEN %(audit_date)s::date - o.posting_date > %(high)s OR abs(o.amount) > %(materiality)s THEN 'high'
            WHEN %(audit_date)s::date - o.posting_date > %(medium)s THEN 'medium'
            ELSE 'low' END AS severity,
       array_remove(ARRAY[e.voucher], NULL) AS voucher_ids
  FROM subledger.open_items o
  LEFT JOIN ledger.entries e ON e.book_id = o.book_id AND e.seq = o.seq
 WHERE o.book_id = %(book_id)s AND %(accounts)s ? o.account
   AND %(audit_date)s::date - o.posting_date > %(low)s
 ORDER BY o.account, o.item_id
