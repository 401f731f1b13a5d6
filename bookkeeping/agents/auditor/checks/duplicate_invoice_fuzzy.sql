-- A supplier is its tax number or its bank account, its id only where both are missing. Chains of invoices no further
-- apart than `days` are one group, unless a credit note for the earlier one stands between them.
WITH parties AS (
    SELECT party_id, regexp_replace(upper(tax_number), '\s', '', 'g') AS tax,
           regexp_replace(upper(bank_account), '\s', '', 'g') AS bank
      FROM subledger.parties WHERE book_id = %(book_id)s
), identities AS (
    SELECT party_id, least(CASE WHEN tax IS NOT NULL THEN min(party_id) OVER (PARTITION BY tax) END,
                           CASE WHEN bank IS NOT NULL THEN min(party_id) OVER (PARTITION BY bank) END) AS identity
      FROM parties
), kept AS (
    SELECT d.document_id, d.number, d.gross, d.currency, d.document_date, d.party_id, j.voucher,
           coalesce(i.identity, d.party_id) AS identity,
           regexp_replace(upper(normalize(d.number, NFKC)), '[^A-Z0-9]', '', 'g') AS plain
      FROM subledger.documents d
      LEFT JOIN identities i USING (party_id)
      LEFT JOIN subledger.journal j ON j.book_id = d.book_id AND j.seq = d.seq
     WHERE d.book_id = %(book_id)s AND d.kind = 'invoice' AND d.direction = 'received' AND d.company = %(company)s
       AND NOT coalesce(j.is_reversal OR j.is_reversed, false)
), normal AS (
    SELECT *, regexp_replace(plain, '(?<![0-9])0+(?=[0-9])', '', 'g') AS form,
           regexp_replace(translate(plain, 'OILSBZ', '011582'), '(?<![0-9])0+(?=[0-9])', '', 'g') AS ocr
      FROM kept
), following AS (
    SELECT *, lag(document_id) OVER same AS id_before, lag(number) OVER same AS number_before,
           lag(document_date) OVER same AS date_before
      FROM normal
    WINDOW same AS (PARTITION BY identity, ocr, gross, currency ORDER BY document_date, document_id)
), credited AS (
    SELECT f.document_id
      FROM following f
      JOIN subledger.documents c ON c.party_id = f.party_id AND c.reference IN (f.id_before, f.number_before)
     WHERE c.book_id = %(book_id)s AND c.kind = 'credit_note'
       AND c.document_date BETWEEN f.date_before AND f.document_date
), spaced AS (
    SELECT f.*, CASE WHEN document_date - date_before <= %(days)s
                      AND document_id NOT IN (SELECT document_id FROM credited) THEN 0 ELSE 1 END AS starts
      FROM following f
), grouped AS (
    SELECT *, sum(starts) OVER (PARTITION BY identity, ocr, gross, currency ORDER BY document_date, document_id) AS no
      FROM spaced
)
SELECT array_agg(document_id ORDER BY document_id) AS invoice_ids, min(form) AS normalised_number,
       min(party_id) AS supplier, gross AS amount, max(document_date) - min(document_date) AS days_apart,
       CASE WHEN count(DISTINCT form) = 1 THEN %(score_equal)s ELSE %(score_ocr)s END::numeric(2, 1) AS score,
       CASE WHEN count(DISTINCT form) = 1 THEN 'high' ELSE 'medium' END AS severity,
       array_remove(array_agg(voucher ORDER BY voucher), NULL) AS voucher_ids
  FROM grouped
 GROUP BY identity, ocr, gross, currency, no
HAVING count(*) >= 2
 ORDER BY invoice_ids
