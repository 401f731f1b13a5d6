-- account null: the journal's debit balances against its credit balances, in the two totals.
WITH journal AS (
    SELECT account, sum(CASE side WHEN 'debit' THEN amount ELSE -amount END) AS balance
      FROM ledger.lines WHERE book_id = %(book_id)s GROUP BY account
), totals AS (
    SELECT coalesce(sum(balance) FILTER (WHERE balance > 0), 0) AS debit,
           -coalesce(sum(balance) FILTER (WHERE balance < 0), 0) AS credit
      FROM journal
), compared AS (
    SELECT account, coalesce(j.balance, 0) AS journal, coalesce(b.balance, 0) AS kept
      FROM journal j
      FULL JOIN (SELECT account, balance FROM subledger.balances WHERE book_id = %(book_id)s) b USING (account)
)
SELECT NULL AS account, debit AS journal_total, credit AS balance_table_total, abs(debit - credit) AS difference,
       'critical' AS severity, NULL::text[] AS voucher_ids
  FROM totals WHERE debit <> credit
UNION ALL
SELECT account, journal, kept, abs(journal - kept), 'critical', NULL FROM compared WHERE journal <> kept
 ORDER BY account NULLS FIRST
