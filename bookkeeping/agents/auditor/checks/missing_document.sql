SELECT j.voucher AS voucher_id, j.document_type AS type, j.attachment AS reference,
       CASE WHEN t.amount > %(materiality)s THEN 'high' ELSE 'medium' END AS severity, ARRAY[j.voucher] AS voucher_ids
  FROM subledger.journal j
  JOIN subledger.voucher_amounts t USING (book_id, seq)
  LEFT JOIN subledger.attachments a ON a.book_id = j.book_id AND a.attachment = j.attachment
 WHERE j.book_id = %(book_id)s AND a.attachment IS NULL
   AND NOT %(exempt_types)s ? j.document_type
   AND NOT j.is_reversal AND NOT j.is_reversed
 ORDER BY j.seq
