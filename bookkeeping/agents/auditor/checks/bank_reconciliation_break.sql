WITH movements AS (
    SELECT account, number, sum(amount) AS total FROM subledger.statement_lines
     WHERE book_id = %(book_id)s GROUP BY account, number
), statements AS (
    SELECT s.*, s.opening + coalesce(m.total, 0) AS expected,
           lag(s.closing) OVER (PARTITION BY s.account ORDER BY s.number, s.statement_date) AS closing_before,
           row_number() OVER (PARTITION BY s.account ORDER BY s.number DESC, s.statement_date DESC) = 1 AS is_last
      FROM subledger.statements s
      LEFT JOIN movements m USING (account, number)
     WHERE s.book_id = %(book_id)s AND s.statement_date <= %(audit_date)s
), booked AS (
    SELECT l.account, l.seq, e.posting_date, sum(CASE l.side WHEN 'debit' THEN l.amount ELSE -l.amount END) AS amount
      FROM ledger.entries e JOIN ledger.lines l USING (book_id, seq)
     WHERE e.book_id = %(book_id)s AND l.account IN (SELECT account FROM statements)
     GROUP BY l.account, l.seq, e.posting_date
), matched AS (
    SELECT l.account, l.seq FROM subledger.statement_lines l
      JOIN statements s USING (account, number)
     WHERE l.book_id = %(book_id)s AND l.seq IS NOT NULL
), compared AS (
    SELECT s.account, s.number, s.closing,
           coalesce((SELECT sum(b.amount) FROM booked b
                      WHERE b.account = s.account AND b.posting_date <= s.statement_date), 0) AS book,
           coalesce((SELECT sum(b.amount) FROM booked b
                      WHERE b.account = s.account AND b.posting_date <= s.statement_date
                        AND NOT EXISTS (SELECT 1 FROM matched m WHERE m.account = b.account AND m.seq = b.seq)), 0)
           - coalesce((SELECT sum(l.amount) FROM subledger.statement_lines l JOIN statements o USING (account, number)
                        WHERE l.book_id = %(book_id)s AND l.account = s.account AND l.seq IS NULL), 0) AS items
      FROM statements s WHERE s.is_last
)
SELECT account, number AS statement, 'statement' AS kind, expected AS expected_closing, closing AS stated_closing,
       abs(expected - closing) AS difference, 'high' AS severity, NULL::text[] AS voucher_ids
  FROM statements WHERE expected <> closing
UNION ALL
SELECT account, number, 'sequence', closing_before, opening, abs(closing_before - opening), 'high', NULL
  FROM statements WHERE opening <> closing_before
UNION ALL
SELECT account, number, 'book', book - items, closing, abs(book - items - closing), 'high', NULL
  FROM compared WHERE book - items <> closing
 ORDER BY account, statement, kind
