-- Rounding is half away from zero. A country whose rates the book does not keep is not judged by rate.
WITH taxes AS (
    SELECT d.document_id, d.country, coalesce(d.tax_point, d.document_date) AS tax_point, d.is_reverse_charge,
           d.direction, p.vat_registered, t.base, t.rate, t.vat, t.n_lines, round(t.base * t.rate / 100, c.scale) AS expected,
           power(10::numeric, -c.scale) AS minor_unit, d.seq
      FROM subledger.documents d
      JOIN subledger.document_taxes t USING (book_id, document_id)
      JOIN ledger.currencies c ON c.code = d.currency
      LEFT JOIN subledger.parties p USING (book_id, party_id)
     WHERE d.book_id = %(book_id)s AND NOT d.is_margin_scheme
), judged AS (
    SELECT t.*, 'amount' AS kind FROM taxes t WHERE abs(vat - expected) > n_lines * minor_unit
    UNION ALL
    SELECT t.*, 'rate' FROM taxes t
     WHERE EXISTS (SELECT 1 FROM subledger.tax_rates r WHERE r.book_id = %(book_id)s AND r.country = t.country)
       AND NOT EXISTS (SELECT 1 FROM subledger.tax_rates r
                        WHERE r.book_id = %(book_id)s AND r.country = t.country AND r.rate = t.rate
                          AND t.tax_point BETWEEN r.valid_from AND coalesce(r.valid_to, 'infinity'))
    UNION ALL
    SELECT t.*, 'not_entitled' FROM taxes t
     WHERE vat <> 0 AND (is_reverse_charge OR direction = 'received' AND vat_registered IS FALSE)
)
SELECT document_id, kind, base, trim_scale(rate) AS rate, vat, expected, vat - expected AS difference,
       CASE kind WHEN 'amount' THEN 'medium' ELSE 'high' END AS severity,
       array_remove(ARRAY[e.voucher], NULL) AS voucher_ids
  FROM judged j LEFT JOIN ledger.entries e ON e.book_id = %(book_id)s AND e.seq = j.seq
 ORDER BY document_id, rate, kind
