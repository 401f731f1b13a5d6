-- Balances are judged at the end of a day; a run of days is unbroken until the balance is back at zero.
WITH days AS (
    SELECT l.account, e.posting_date AS day, sum(CASE l.side WHEN 'debit' THEN l.amount ELSE -l.amount END) AS movement,
           array_agg(DISTINCT e.voucher ORDER BY e.voucher) AS vouchers
      FROM ledger.entries e JOIN ledger.lines l USING (book_id, seq)
     WHERE e.book_id = %(book_id)s AND %(accounts)s ? l.account
     GROUP BY l.account, e.posting_date
), ends AS (
    SELECT account, day, vouchers, sum(movement) OVER (PARTITION BY account ORDER BY day) AS balance FROM days
), runs AS (
    SELECT *, count(*) FILTER (WHERE balance >= 0) OVER (PARTITION BY account ORDER BY day) AS run FROM ends
)
SELECT account, min(day) AS date, min(balance) AS balance, 'high' AS severity,
       ARRAY(SELECT unnest(f.vouchers) FROM runs f
              WHERE f.account = r.account AND f.day = min(r.day)) AS voucher_ids
  FROM runs r WHERE balance < 0
 GROUP BY account, run
 ORDER BY account, date
