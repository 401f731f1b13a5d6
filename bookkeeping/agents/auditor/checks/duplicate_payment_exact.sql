WITH payments AS (
    SELECT p.payment_id, p.party_id, p.amount, p.currency, p.paid_on, p.invoice_ref, j.voucher,
           regexp_replace(regexp_replace(upper(normalize(p.invoice_ref, NFKC)), '[^A-Z0-9]', '', 'g'),
                          '(?<![0-9])0+(?=[0-9])', '', 'g') AS ref
      FROM subledger.payments p
      LEFT JOIN subledger.journal j ON j.book_id = p.book_id AND j.seq = p.seq
     WHERE p.book_id = %(book_id)s AND NOT p.is_undone AND p.invoice_ref IS NOT NULL
       AND NOT coalesce(j.is_reversal OR j.is_reversed, false)
), groups AS (
    SELECT party_id, amount, currency, ref, min(invoice_ref) AS invoice_ref,
           array_agg(payment_id ORDER BY payment_id) AS payment_ids, sum(amount) AS total,
           max(paid_on) - min(paid_on) AS days_apart, array_agg(voucher ORDER BY voucher) AS vouchers
      FROM payments GROUP BY party_id, amount, currency, ref HAVING count(*) >= 2
), invoices AS (
    SELECT party_id, currency, gross,
           regexp_replace(regexp_replace(upper(normalize(number, NFKC)), '[^A-Z0-9]', '', 'g'),
                          '(?<![0-9])0+(?=[0-9])', '', 'g') AS ref
      FROM subledger.documents WHERE book_id = %(book_id)s AND kind = 'invoice' AND direction = 'received'
)
SELECT g.payment_ids, g.party_id AS supplier, g.amount, g.invoice_ref, g.days_apart,
       'high' AS severity, array_remove(g.vouchers, NULL) AS voucher_ids
  FROM groups g
 WHERE g.total > coalesce((SELECT max(i.gross) FROM invoices i
                            WHERE i.party_id = g.party_id AND i.currency = g.currency AND i.ref = g.ref), 0)
 ORDER BY g.payment_ids
