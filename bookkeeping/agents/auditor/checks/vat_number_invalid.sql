-- Candidates: the tax numbers themselves are judged by vat_numbers.py, which gives the reason.
SELECT p.party_id, p.tax_number, p.country,
       CASE WHEN count(j.seq) > 0 THEN 'high' ELSE 'medium' END AS severity,
       array_remove(array_agg(DISTINCT j.voucher ORDER BY j.voucher), NULL) AS voucher_ids
  FROM subledger.parties p
  LEFT JOIN subledger.journal j ON j.book_id = p.book_id AND j.party_id = p.party_id
       AND j.posting_date BETWEEN %(first_day)s AND %(last_day)s
       AND EXISTS (SELECT 1 FROM ledger.lines l
                    WHERE l.book_id = j.book_id AND l.seq = j.seq AND l.account IN ('1410', '1420')
                      AND l.side = 'debit')
 WHERE p.book_id = %(book_id)s AND p.tax_number IS NOT NULL
 GROUP BY p.party_id, p.tax_number, p.country
 ORDER BY p.party_id
