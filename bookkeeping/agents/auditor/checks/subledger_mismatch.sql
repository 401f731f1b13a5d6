-- The vouchers are the manual postings straight to the control account: the usual cause.
WITH controls AS (
    SELECT key AS account FROM jsonb_each_text(%(control_accounts)s)
), items AS (
    SELECT account, sum(amount) AS total FROM subledger.open_items
     WHERE book_id = %(book_id)s AND posting_date <= %(audit_date)s GROUP BY account
), ledger AS (
    SELECT l.account, sum(CASE l.side WHEN 'debit' THEN l.amount ELSE -l.amount END) AS total
      FROM ledger.entries e
      JOIN ledger.lines l USING (book_id, seq)
     WHERE e.book_id = %(book_id)s AND e.posting_date <= %(audit_date)s
       AND l.account IN (SELECT account FROM controls)
     GROUP BY l.account
)
SELECT c.account AS control_account, coalesce(i.total, 0) AS open_item_total, coalesce(g.total, 0) AS ledger_total,
       abs(coalesce(i.total, 0) - coalesce(g.total, 0)) AS difference,
       CASE WHEN abs(coalesce(i.total, 0) - coalesce(g.total, 0)) > %(materiality)s THEN 'critical' ELSE 'high' END
           AS severity,
       ARRAY(SELECT DISTINCT e.voucher
               FROM subledger.vouchers v JOIN ledger.entries e USING (book_id, seq) JOIN ledger.lines l USING (book_id, seq)
              WHERE v.book_id = %(book_id)s AND v.source = 'manual' AND l.account = c.account
                AND e.posting_date <= %(audit_date)s
              ORDER BY e.voucher) AS voucher_ids
  FROM controls c LEFT JOIN items i USING (account) LEFT JOIN ledger g USING (account)
 WHERE coalesce(i.total, 0) <> coalesce(g.total, 0)
 ORDER BY c.account
