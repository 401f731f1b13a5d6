WITH vouchers AS MATERIALIZED (
    SELECT j.seq, j.voucher, j.posted_by, j.party_id, j.source, t.amount, t.debits,
           t.amount %% %(unit)s::numeric = 0 AS is_round,
           j.source = 'manual' AND t.is_expense AS is_suspect
      FROM subledger.journal j
      JOIN (SELECT seq, sum(amount) AS amount, array_agg(DISTINCT account) AS debits,
                   bool_or(account ~ '^[56]') AS is_expense,
                   bool_and(%(exempt_accounts)s ? account) AS is_exempt
              FROM ledger.lines WHERE book_id = %(book_id)s AND side = 'debit' GROUP BY seq) t USING (seq)
     WHERE j.book_id = %(book_id)s AND NOT t.is_exempt AND NOT j.is_reversal AND NOT j.is_reversed
       AND j.document_type NOT IN ('opening_balance_schedule', 'year_end_closing')
), population AS (
    SELECT count(*) AS n, count(*) FILTER (WHERE is_round) AS n_round FROM vouchers
), members AS (
    SELECT posted_by AS name, seq, voucher, is_round, is_suspect FROM vouchers
    UNION ALL
    SELECT party_id, seq, voucher, is_round, is_suspect FROM vouchers WHERE party_id IS NOT NULL
    UNION ALL
    SELECT account, seq, voucher, is_round, is_suspect FROM vouchers CROSS JOIN unnest(debits) AS account
), groups AS (
    SELECT name, count(*) AS n, count(*) FILTER (WHERE is_round) AS n_round,
           count(*) FILTER (WHERE is_round AND is_suspect) AS n_suspect,
           array_agg(voucher ORDER BY seq) FILTER (WHERE is_round) AS vouchers
      FROM members GROUP BY name
    HAVING count(*) >= %(min_n)s AND count(*) FILTER (WHERE is_round) >= %(min_round)s
)
SELECT g.name AS group, g.n, round(g.n_round::numeric / g.n, 4) AS round_share,
       round((p.n_round - g.n_round)::numeric / (p.n - g.n), 4) AS population_share, g.vouchers[1:10] AS sample_ids,
       CASE WHEN 2 * g.n_suspect >= g.n_round THEN 'high' ELSE 'medium' END AS severity, g.vouchers AS voucher_ids
  FROM groups g CROSS JOIN population p
 WHERE p.n > g.n
   AND g.n_round::numeric / g.n >= %(ratio)s * (p.n_round - g.n_round)::numeric / (p.n - g.n)
 ORDER BY g.name
