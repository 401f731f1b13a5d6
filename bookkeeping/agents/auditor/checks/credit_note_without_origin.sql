WITH notes AS (
    SELECT d.*, e.voucher FROM subledger.documents d
      LEFT JOIN ledger.entries e ON e.book_id = d.book_id AND e.seq = d.seq
     WHERE d.book_id = %(book_id)s AND d.kind = 'credit_note'
), origins AS (
    SELECT n.document_id, n.reference, n.gross, n.voucher, i.document_id AS invoice_id,
           i.gross - coalesce(sum(n.gross) OVER earlier, 0) AS remaining
      FROM notes n
      LEFT JOIN subledger.documents i
        ON i.book_id = n.book_id AND i.kind = 'invoice' AND i.direction = n.direction AND i.party_id = n.party_id
       AND n.reference IN (i.document_id, i.number)
    WINDOW earlier AS (PARTITION BY i.document_id ORDER BY n.document_date, n.document_id
                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT document_id, reference, gross AS amount, CASE WHEN invoice_id IS NOT NULL THEN remaining END AS remaining,
       CASE WHEN invoice_id IS NULL THEN 'medium' ELSE 'high' END AS severity,
       array_remove(ARRAY[voucher], NULL) AS voucher_ids
  FROM origins WHERE invoice_id IS NULL OR gross > remaining
 ORDER BY document_id
