-- lines: with prices including tax the gross sums are compared. A relation with a missing member is not judged.
WITH documents AS (
    SELECT d.document_id, d.seq, d.net, d.tax, d.gross, d.allowances, d.charges, d.prepaid, d.rounding, d.due,
           d.prices_include_tax, power(10::numeric, -c.scale) AS minor_unit
      FROM subledger.documents d
      JOIN ledger.currencies c ON c.code = d.currency
     WHERE d.book_id = %(book_id)s
), sums AS (
    SELECT document_id, count(*) AS n, CASE WHEN bool_and(net IS NOT NULL) THEN sum(net) END AS net,
           CASE WHEN bool_and(gross IS NOT NULL) THEN sum(gross) END AS gross
      FROM subledger.document_lines WHERE book_id = %(book_id)s GROUP BY document_id
), relations AS (
    SELECT d.document_id, d.seq, 'lines' AS relation,
           CASE WHEN d.prices_include_tax THEN s.gross ELSE s.net END - d.allowances + d.charges AS left_side,
           CASE WHEN d.prices_include_tax THEN d.gross ELSE d.net END AS right_side, s.n * d.minor_unit AS tolerance
      FROM documents d JOIN sums s USING (document_id)
    UNION ALL
    SELECT document_id, seq, 'gross', net + tax, gross, %(tolerance_totals)s::numeric FROM documents
    UNION ALL
    SELECT document_id, seq, 'due', gross - prepaid + rounding, due, %(tolerance_totals)s::numeric FROM documents
)
SELECT document_id, relation, left_side AS left, right_side AS right, abs(left_side - right_side) AS difference,
       CASE WHEN abs(left_side - right_side) > %(high_above)s::numeric THEN 'high' ELSE 'medium' END AS severity,
       array_remove(ARRAY[e.voucher], NULL) AS voucher_ids
  FROM relations r LEFT JOIN ledger.entries e ON e.book_id = %(book_id)s AND e.seq = r.seq
 WHERE abs(left_side - right_side) > tolerance
 ORDER BY document_id, relation
