SELECT voucher AS voucher_id, greatest(posting_date, document_date) AS date, posted_at AS created_at,
       greatest(posting_date, document_date) - created_on AS days, 'medium' AS severity, ARRAY[voucher] AS voucher_ids
  FROM (SELECT *, (posted_at AT TIME ZONE %(zone)s)::date AS created_on
          FROM ledger.entries WHERE book_id = %(book_id)s) e
 WHERE greatest(posting_date, document_date) > created_on AND NOT %(exempt_types)s ? document_type
 ORDER BY seq
