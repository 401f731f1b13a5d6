WITH found AS MATERIALIZED (
    SELECT j.seq, j.voucher, j.document_type, j.attachment
      FROM subledger.journal j
      LEFT JOIN subledger.attachments a ON a.book_id = j.book_id AND a.attachment = j.attachment
     WHERE j.book_id = %(book_id)s AND a.attachment IS NULL
       AND NOT %(exempt_types)s ? j.document_type
       AND NOT j.is_reversal AND NOT j.is_reversed
), amounts AS (
    SELECT seq, sum(amount) AS amount FROM ledger.lines
     WHERE book_id = %(book_id)s AND side = 'debit' AND seq IN (SELECT seq FROM found) GROUP BY seq
)
SELECT f.voucher AS voucher_id, f.document_type AS type, f.attachment AS reference,
       CASE WHEN t.amount > %(materiality)s THEN 'high' ELSE 'medium' END AS severity, ARRAY[f.voucher] AS voucher_ids
  FROM found f LEFT JOIN amounts t USING (seq)
 ORDER BY f.seq
