WITH balances AS (
    SELECT l.account, sum(CASE l.side WHEN 'debit' THEN l.amount ELSE -l.amount END) AS balance
      FROM ledger.entries e JOIN ledger.lines l USING (book_id, seq)
     WHERE e.book_id = %(book_id)s AND e.posting_date <= %(audit_date)s
     GROUP BY l.account
)
SELECT b.account, b.balance, a.normal_balance AS normal_side,
       CASE WHEN %(high)s ? b.account THEN 'high' ELSE 'medium' END AS severity, NULL::text[] AS voucher_ids
  FROM balances b
  JOIN ledger.books k ON k.book_id = %(book_id)s
  JOIN ledger.accounts a ON a.chart_id = k.chart_id AND a.code = b.account
 WHERE CASE a.normal_balance WHEN 'debit' THEN b.balance < 0 ELSE b.balance > 0 END
   AND NOT %(exempt)s ? b.account
   AND NOT %(overdraft_accounts)s ? b.account
 ORDER BY b.account
