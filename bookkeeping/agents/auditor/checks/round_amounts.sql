-- A voucher counts for the user who posted it, for its supplier or customer, and once for each account that it debits.
-- Only names with enough round vouchers are counted in full.
WITH exempt AS (
    SELECT array_agg(account) AS accounts FROM jsonb_array_elements_text(%(exempt_accounts)s) AS account
), vouchers AS MATERIALIZED (
    SELECT j.seq, j.voucher, j.posted_by, j.party_id, t.amount %% %(unit)s::numeric = 0 AS is_round,
           j.source = 'manual' AND t.is_expense AS is_suspect
      FROM subledger.journal j
      JOIN (SELECT seq, sum(amount) AS amount, bool_or(left(account, 1) IN ('5', '6')) AS is_expense
              FROM ledger.lines WHERE book_id = %(book_id)s AND side = 'debit'
             GROUP BY seq HAVING bool_or(account <> ALL ((SELECT accounts FROM exempt)::text[]))) t USING (seq)
     WHERE j.book_id = %(book_id)s AND NOT j.is_reversal AND NOT j.is_reversed
       AND j.document_type NOT IN ('opening_balance_schedule', 'year_end_closing')
), population AS (
    SELECT count(*) AS n, count(*) FILTER (WHERE is_round) AS n_round FROM vouchers
), round_members AS MATERIALIZED (
    SELECT 'user' AS kind, posted_by AS name, seq, voucher, is_suspect FROM vouchers WHERE is_round
    UNION ALL
    SELECT 'party', party_id, seq, voucher, is_suspect FROM vouchers WHERE is_round AND party_id IS NOT NULL
    UNION ALL
    SELECT DISTINCT 'account', l.account, v.seq, v.voucher, v.is_suspect
      FROM vouchers v JOIN ledger.lines l USING (seq)
     WHERE v.is_round AND l.book_id = %(book_id)s AND l.side = 'debit'
), candidates AS MATERIALIZED (
    SELECT kind, name, count(*) AS n_round, count(*) FILTER (WHERE is_suspect) AS n_suspect
      FROM round_members GROUP BY kind, name HAVING count(*) >= %(min_round)s
), sizes AS (
    SELECT kind, name, count(*) AS n FROM (
        SELECT 'user' AS kind, posted_by AS name FROM vouchers
        UNION ALL
        SELECT 'party', party_id FROM vouchers
        UNION ALL
        SELECT 'account', account FROM (
            SELECT DISTINCT v.seq, l.account FROM vouchers v JOIN ledger.lines l USING (seq)
             WHERE l.book_id = %(book_id)s AND l.side = 'debit'
               AND l.account IN (SELECT name FROM candidates WHERE kind = 'account')) debits
    ) members
     WHERE EXISTS (SELECT 1 FROM candidates) GROUP BY kind, name
), groups AS (
    SELECT c.*, s.n, p.n - s.n AS n_others, p.n_round - c.n_round AS n_round_others
      FROM candidates c JOIN sizes s USING (kind, name) CROSS JOIN population p
     WHERE s.n >= %(min_n)s AND p.n > s.n
       AND c.n_round::numeric / s.n >= %(ratio)s * (p.n_round - c.n_round)::numeric / (p.n - s.n)
), named AS (
    SELECT kind, name, array_agg(voucher ORDER BY seq) AS vouchers FROM round_members GROUP BY kind, name
)
SELECT g.name AS group, g.n, round(g.n_round::numeric / g.n, 4) AS round_share,
       round(g.n_round_others::numeric / g.n_others, 4) AS population_share, n.vouchers[1:10] AS sample_ids,
       CASE WHEN 2 * g.n_suspect >= g.n_round THEN 'high' ELSE 'medium' END AS severity, n.vouchers AS voucher_ids
  FROM groups g JOIN named n USING (kind, name)
 ORDER BY g.name
