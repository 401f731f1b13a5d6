WITH limits AS (
    SELECT value::numeric AS amount FROM jsonb_array_elements_text(%(limits)s)
), invoices AS MATERIALIZED (
    SELECT d.document_id, d.party_id, d.requester, d.document_date, d.gross, j.voucher,
           rtrim(d.number, '0123456789') AS prefix, substr(d.number, length(rtrim(d.number, '0123456789')) + 1) AS digits
      FROM subledger.documents d
      LEFT JOIN subledger.journal j ON j.book_id = d.book_id AND j.seq = d.seq
     WHERE d.book_id = %(book_id)s AND d.kind = 'invoice' AND d.direction = 'received' AND d.company = %(company)s
       AND d.currency = %(currency)s AND d.framework IS NULL
       AND NOT coalesce(j.is_reversal OR j.is_reversed, false)
), windows AS (
    SELECT l.amount AS limit_amount, a.party_id, a.requester, a.document_date AS starts,
           array_agg(b.document_id ORDER BY b.document_id) AS ids, sum(b.gross) AS total,
           min(b.document_date) = max(b.document_date) AS one_day,
           array_remove(array_agg(b.voucher ORDER BY b.voucher), NULL) AS vouchers
      FROM limits l
      JOIN (SELECT DISTINCT party_id, requester, document_date FROM invoices) a ON true
      JOIN invoices b ON b.party_id = a.party_id AND b.requester IS NOT DISTINCT FROM a.requester
                     AND b.document_date BETWEEN a.document_date AND a.document_date + %(window_days)s::int
                     AND b.gross <= l.amount
     GROUP BY l.amount, a.party_id, a.requester, a.document_date
    HAVING count(*) >= 2 AND sum(b.gross) > l.amount
), largest AS (
    SELECT w.*, EXISTS (SELECT 1 FROM invoices a JOIN invoices b USING (prefix)
                         WHERE a.document_id = ANY (w.ids) AND b.document_id = ANY (w.ids)
                           AND a.digits <> '' AND b.digits <> '' AND b.digits::numeric = a.digits::numeric + 1)
                AS is_consecutive
      FROM windows w
     WHERE NOT EXISTS (
           SELECT 1 FROM windows o
            WHERE o.limit_amount = w.limit_amount AND o.party_id = w.party_id
              AND o.requester IS NOT DISTINCT FROM w.requester AND o.ids && w.ids AND o.starts <> w.starts
              AND (o.total, w.starts) > (w.total, o.starts))
), near AS (
    SELECT l.amount AS limit_amount, count(*) AS n, sum(i.gross) AS total,
           array_agg(i.document_id ORDER BY i.document_id) AS ids,
           array_remove(array_agg(i.voucher ORDER BY i.voucher), NULL) AS vouchers,
           (SELECT count(*) FROM invoices b
             WHERE b.gross >= l.amount * (1 - 2 * %(near_pct)s / 100.0)
               AND b.gross < l.amount * (1 - %(near_pct)s / 100.0)) AS n_below
      FROM limits l
      JOIN invoices i ON i.gross BETWEEN l.amount * (1 - %(near_pct)s / 100.0) AND l.amount
     GROUP BY l.amount
)
SELECT 'split' AS kind, party_id AS supplier, requester, ids AS invoice_ids, total AS sum, limit_amount AS limit,
       %(window_days)s::int AS window_days,
       CASE WHEN one_day OR is_consecutive THEN 'high' ELSE 'medium' END AS severity, vouchers AS voucher_ids
  FROM largest
UNION ALL
SELECT 'near_limit', NULL, NULL, ids, total, limit_amount, NULL, 'medium', vouchers
  FROM near WHERE n >= %(min_near)s AND n >= %(near_ratio)s * n_below
 ORDER BY kind, invoice_ids
