WITH days AS (
    SELECT item, location, moved_on AS day, sum(quantity) AS movement, array_agg(seq ORDER BY seq) AS seqs
      FROM subledger.stock_moves WHERE book_id = %(book_id)s GROUP BY item, location, moved_on
), ends AS (
    SELECT *, sum(movement) OVER w AS quantity, lead(day) OVER w AS next_day
      FROM days WINDOW w AS (PARTITION BY item, location ORDER BY day)
), runs AS (
    SELECT *, count(*) FILTER (WHERE quantity >= 0) OVER (PARTITION BY item, location ORDER BY day) AS run FROM ends
), below AS (
    SELECT item, location, min(day) AS date, min(quantity) AS quantity,
           -- The run lasts until the day before the next movement that ends it, or goes on.
           max(coalesce(next_day, greatest(%(audit_date)s::date, day) + 1)) - 1 AS last_day
      FROM runs WHERE quantity < 0 GROUP BY item, location, run
)
SELECT b.item, b.location, b.date, trim_scale(b.quantity) AS quantity,
       CASE WHEN EXISTS (SELECT 1 FROM ledger.periods p
                          WHERE p.book_id = %(book_id)s AND p.last_day BETWEEN b.date AND b.last_day)
            THEN 'high' ELSE 'medium' END AS severity,
       ARRAY(SELECT e.voucher FROM runs r
               JOIN ledger.entries e ON e.book_id = %(book_id)s AND e.seq = ANY (r.seqs)
              WHERE r.item = b.item AND r.location = b.location AND r.day = b.date ORDER BY e.seq) AS voucher_ids
  FROM below b
 ORDER BY b.item, b.location, b.date
