WITH dated AS (
    SELECT seq, voucher, posting_date, document_date, posted_at, posted_by, document_type,
           (posted_at AT TIME ZONE %(zone)s)::date AS created_on
      FROM ledger.entries WHERE book_id = %(book_id)s AND NOT %(exempt_types)s ? document_type
), found AS (
    SELECT 'late' AS kind, d.*, created_on - posting_date AS days,
           -- The fiscal year that a day lies in begins at or before it.
           extract(year FROM age(created_on, %(first_day)s::date - interval '200 years'))
               > extract(year FROM age(posting_date, %(first_day)s::date - interval '200 years')) AS of_earlier_year
      FROM dated d WHERE created_on - posting_date > %(days)s
    UNION ALL
    SELECT 'before_document', d.*, document_date - posting_date, false
      FROM dated d WHERE document_date > posting_date AND document_date <= created_on
)
SELECT kind, voucher AS voucher_id, posting_date, posted_at AS created_at, days, posted_by AS user,
       CASE WHEN of_earlier_year OR days > 90 THEN 'high' WHEN days > 30 THEN 'medium' ELSE 'low' END AS severity,
       ARRAY[voucher] AS voucher_ids
  FROM found ORDER BY seq, kind
