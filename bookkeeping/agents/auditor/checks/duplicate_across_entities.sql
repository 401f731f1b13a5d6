WITH parties AS (
    SELECT party_id, regexp_replace(upper(tax_number), '\s', '', 'g') AS tax,
           regexp_replace(upper(bank_account), '\s', '', 'g') AS bank,
           regexp_replace(upper(address), '\s', '', 'g') AS address
      FROM subledger.parties WHERE book_id = %(book_id)s AND kind = 'supplier'
), invoices AS (
    SELECT d.document_id, d.party_id, d.company, d.gross, d.currency, d.document_date, j.voucher,
           regexp_replace(regexp_replace(upper(normalize(d.number, NFKC)), '[^A-Z0-9]', '', 'g'),
                          '(?<![0-9])0+(?=[0-9])', '', 'g') AS form,
           p.tax, p.bank, p.address
      FROM subledger.documents d
      JOIN parties p USING (party_id)
      LEFT JOIN subledger.journal j ON j.book_id = d.book_id AND j.seq = d.seq
     WHERE d.book_id = %(book_id)s AND d.kind = 'invoice' AND d.direction = 'received'
       AND NOT coalesce(j.is_reversal OR j.is_reversed, false)
), pairs AS (
    SELECT a.document_id AS one, b.document_id AS other, a.form, a.gross, a.currency, a.document_date,
           CASE WHEN a.tax = b.tax THEN 'tax_number'
                WHEN a.bank = b.bank THEN 'bank_account'
                WHEN a.address = b.address AND a.party_id <> b.party_id THEN 'address' END AS shared
      FROM invoices a
      JOIN invoices b USING (form, gross, currency, document_date)
     WHERE a.document_id < b.document_id AND (a.party_id <> b.party_id OR a.company <> b.company)
), members AS (
    SELECT form, gross, currency, document_date, max(shared) AS shared, array_agg(DISTINCT id) AS ids
      FROM pairs CROSS JOIN LATERAL (VALUES (one), (other)) AS both_of (id)
     WHERE shared IS NOT NULL
     GROUP BY form, gross, currency, document_date
)
SELECT array_agg(i.document_id ORDER BY i.document_id) AS invoice_ids,
       array_agg(DISTINCT i.party_id ORDER BY i.party_id) AS supplier_ids,
       array_agg(DISTINCT i.company ORDER BY i.company) AS companies,
       m.shared AS shared_attribute, m.gross AS amount,
       CASE WHEN m.shared = 'address' THEN 'medium' ELSE 'high' END AS severity,
       array_remove(array_agg(i.voucher ORDER BY i.voucher), NULL) AS voucher_ids
  FROM members m
  JOIN invoices i ON i.document_id = ANY (m.ids)
 GROUP BY m.ids, m.shared, m.gross
 ORDER BY invoice_ids
