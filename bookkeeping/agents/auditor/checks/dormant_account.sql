WITH used AS (
    SELECT l.account, e.posting_date AS day,
           lag(e.posting_date) OVER (PARTITION BY l.account ORDER BY e.posting_date) AS before
      FROM ledger.entries e JOIN ledger.lines l USING (book_id, seq)
     WHERE e.book_id = %(book_id)s
), awoken AS (
    SELECT account, day, max(before) AS last_used FROM used
     WHERE before + make_interval(months => %(months)s::int) < day
       AND NOT %(exempt_accounts)s ? account
     GROUP BY account, day
)
SELECT a.account, a.last_used, j.voucher AS voucher_id, sum(l.amount) AS amount, 'low' AS severity,
       ARRAY[j.voucher] AS voucher_ids
  FROM awoken a
  JOIN subledger.journal j ON j.book_id = %(book_id)s AND j.posting_date = a.day AND j.source = 'manual'
  JOIN ledger.lines l ON l.book_id = j.book_id AND l.seq = j.seq AND l.account = a.account
 GROUP BY a.account, a.last_used, j.seq, j.voucher
 ORDER BY a.account, j.seq
