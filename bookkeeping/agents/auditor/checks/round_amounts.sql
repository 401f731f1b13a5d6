-- A voucher counts for the user who posted it, for its supplier or customer, and once for each account that it debits.
WITH exempt AS (
    SELECT array_agg(account) AS accounts FROM jsonb_array_elements_text(%(exempt_accounts)s) AS account
), debits AS MATERIALIZED (
    SELECT seq, account, sum(amount) AS amount, account <> ALL ((SELECT accounts FROM exempt)::text[]) AS counts
      FROM ledger.lines WHERE book_id = %(book_id)s AND side = 'debit' GROUP BY seq, account
), vouchers AS MATERIALIZED (
    SELECT j.seq, j.voucher, j.posted_by, j.party_id, t.amount %% %(unit)s::numeric = 0 AS is_round,
           j.source = 'manual' AND t.is_expense AS is_suspect
      FROM subledger.journal j
      JOIN (SELECT seq, sum(amount) AS amount, bool_or(left(account, 1) IN ('5', '6')) AS is_expense
              FROM debits GROUP BY seq HAVING bool_or(counts)) t USING (seq)
     WHERE j.book_id = %(book_id)s AND NOT j.is_reversal AND NOT j.is_reversed
       AND j.document_type NOT IN ('opening_balance_schedule', 'year_end_closing')
), population AS (
    SELECT count(*) AS n, count(*) FILTER (WHERE is_round) AS n_round FROM vouchers
), members AS MATERIALIZED (
    SELECT posted_by AS name, seq, is_round, is_suspect FROM vouchers
    UNION ALL
    SELECT party_id, seq, is_round, is_suspect FROM vouchers WHERE party_id IS NOT NULL
    UNION ALL
    SELECT d.account, v.seq, v.is_round, v.is_suspect FROM vouchers v JOIN debits d USING (seq)
), counted AS (
    SELECT name, count(*) AS n, count(*) FILTER (WHERE is_round) AS n_round,
           count(*) FILTER (WHERE is_round AND is_suspect) AS n_suspect
      FROM members GROUP BY name
    HAVING count(*) >= %(min_n)s AND count(*) FILTER (WHERE is_round) >= %(min_round)s
), groups AS (
    SELECT g.*, p.n - g.n AS n_others, p.n_round - g.n_round AS n_round_others
      FROM counted g CROSS JOIN population p
     WHERE p.n > g.n AND g.n_round::numeric / g.n >= %(ratio)s * (p.n_round - g.n_round)::numeric / (p.n - g.n)
), named AS (
    SELECT g.name, array_agg(v.voucher ORDER BY v.seq) AS vouchers
      FROM groups g JOIN members m USING (name) JOIN vouchers v ON v.seq = m.seq
     WHERE m.is_round GROUP BY g.name
)
SELECT g.name AS group, g.n, round(g.n_round::numeric / g.n, 4) AS round_share,
       round(g.n_round_others::numeric / g.n_others, 4) AS population_share, n.vouchers[1:10] AS sample_ids,
       CASE WHEN 2 * g.n_suspect >= g.n_round THEN 'high' ELSE 'medium' END AS severity, n.vouchers AS voucher_ids
  FROM groups g JOIN named n USING (name)
 ORDER BY g.name
