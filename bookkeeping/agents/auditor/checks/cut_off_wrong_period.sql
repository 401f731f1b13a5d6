-- A year ends on the day before the first day of a fiscal year; the nearest end decides.
WITH judged AS (
    SELECT j.seq, j.voucher, j.supply_date, j.posting_date, t.amount,
           (SELECT min(least(abs(j.supply_date - ends::date), abs(j.posting_date - ends::date)))
              FROM generate_series(-1, 1) AS years
             CROSS JOIN LATERAL (SELECT %(last_day)s::date
                                        + make_interval(years => (extract(year FROM j.posting_date)
                                                                  - extract(year FROM %(last_day)s::date))::int
                                                                 + years::int) AS ends) e) AS days_to_year_end
      FROM subledger.journal j
      JOIN subledger.voucher_amounts t USING (book_id, seq)
     WHERE j.book_id = %(book_id)s AND j.supply_date IS NOT NULL AND NOT j.links_supply
       AND date_trunc('month', j.supply_date) <> date_trunc('month', j.posting_date)
)
SELECT voucher AS voucher_id, supply_date, posting_date, to_char(posting_date, 'YYYY-MM') AS period, amount,
       CASE WHEN amount > %(materiality)s AND days_to_year_end <= %(year_end_days)s THEN 'high' ELSE 'medium' END
           AS severity,
       ARRAY[voucher] AS voucher_ids
  FROM judged ORDER BY seq
