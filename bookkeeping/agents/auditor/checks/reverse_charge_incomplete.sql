-- Where a supplier is from is said by its tax number, by its country only where it has none.
WITH taxes AS (
    SELECT seq, coalesce(sum(CASE side WHEN 'debit' THEN amount ELSE -amount END) FILTER (WHERE account = '1420'), 0) AS input,
           coalesce(sum(CASE side WHEN 'credit' THEN amount ELSE -amount END) FILTER (WHERE account = '2220'), 0) AS output
      FROM ledger.lines WHERE book_id = %(book_id)s AND account IN ('1420', '2220') GROUP BY seq
), foreign_services AS (
    SELECT d.seq
      FROM subledger.documents d JOIN subledger.parties p USING (book_id, party_id)
     WHERE d.book_id = %(book_id)s AND d.kind = 'invoice' AND d.direction = 'received' AND d.is_service
       AND coalesce(d.tax, 0) = 0
       AND coalesce(replace(substring(upper(p.tax_number) FROM '^[A-Z]{2}'), 'EL', 'GR'), p.country) <> %(country)s
), judged AS (
    SELECT e.seq, e.voucher, coalesce(t.input, 0) AS input, coalesce(t.output, 0) AS output,
           e.document_type = 'reverse_charge_invoice' OR e.seq IN (SELECT seq FROM foreign_services) AS is_due
      FROM ledger.entries e LEFT JOIN taxes t USING (seq)
     WHERE e.book_id = %(book_id)s
), found AS (
    SELECT *, CASE WHEN input > 0 AND output = 0 THEN 'a'
                   WHEN input > output THEN 'b'
                   WHEN is_due AND input = 0 AND output = 0 THEN 'c' END AS kind FROM judged
)
SELECT voucher AS voucher_id, kind, input AS input_tax, output AS output_tax, 'high' AS severity,
       ARRAY[voucher] AS voucher_ids
  FROM found WHERE kind IS NOT NULL ORDER BY seq
