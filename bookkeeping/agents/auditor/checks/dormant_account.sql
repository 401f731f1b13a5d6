WITH used AS (
    SELECT account, day, lag(day) OVER (PARTITION BY account ORDER BY day) AS before
      FROM (SELECT DISTINCT l.account, e.posting_date AS day
              FROM ledger.entries e JOIN ledger.lines l USING (book_id, seq)
             WHERE e.book_id = %(book_id)s) days
), awoken AS (
    SELECT account, day, before AS last_used FROM used
     WHERE before + make_interval(months => %(months)s::int) < day
       AND NOT %(exempt_accounts)s ? account
)
SELECT a.account, a.last_used, j.voucher AS voucher_id, sum(l.amount) AS amount, 'low' AS severity,
       ARRAY[j.voucher] AS voucher_ids
  FROM awoken a
  JOIN subledger.journal j ON j.book_id = %(book_id)s AND j.posting_date = a.day AND j.source = 'manual'
  JOIN ledger.lines l ON l.book_id = j.book_id AND l.seq = j.seq AND l.account = a.account
 GROUP BY a.account, a.last_used, j.seq, j.voucher
 ORDER BY a.account, j.seq
