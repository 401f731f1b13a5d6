WITH invoiced AS (
    SELECT d.document_id, d.document_date, l.line_no, l.order_id, l.order_line, l.quantity, l.unit_price / l.price_per AS price,
           sum(l.quantity) OVER (PARTITION BY l.order_id, l.order_line ORDER BY d.document_date, d.document_id, l.line_no)
               AS so_far,
           e.voucher
      FROM subledger.documents d
      JOIN subledger.document_lines l USING (book_id, document_id)
      LEFT JOIN ledger.entries e ON e.book_id = d.book_id AND e.seq = d.seq
     WHERE d.book_id = %(book_id)s AND d.kind = 'invoice' AND d.direction = 'received' AND l.order_id IS NOT NULL
), received AS (
    SELECT order_id, order_line, sum(quantity) AS quantity FROM subledger.receipts
     WHERE book_id = %(book_id)s GROUP BY order_id, order_line
), compared AS (
    SELECT i.*, o.quantity AS ordered, coalesce(r.quantity, 0) AS received, o.unit_price / o.price_per AS order_price,
           i.so_far > coalesce(r.quantity, 0) * (1 + %(qty_pct)s / 100.0) AS is_over_quantity,
           i.price > o.unit_price / o.price_per * (1 + %(price_pct)s / 100.0) AS is_over_price
      FROM invoiced i
      JOIN subledger.orders o ON o.book_id = %(book_id)s AND o.order_id = i.order_id AND o.line_no = i.order_line
      LEFT JOIN received r ON r.order_id = i.order_id AND r.order_line = i.order_line
), found AS (
    SELECT *, CASE WHEN is_over_quantity AND is_over_price THEN 'quantity and price'
                   WHEN is_over_quantity THEN 'quantity' ELSE 'price' END AS kind,
           greatest(CASE WHEN is_over_quantity THEN least(so_far - received, quantity) * order_price ELSE 0 END
                    + CASE WHEN is_over_price THEN quantity * (price - order_price) ELSE 0 END, 0) AS excess
      FROM compared WHERE is_over_quantity OR is_over_price
)
SELECT document_id AS invoice_id, line_no AS line, kind, trim_scale(ordered) AS ordered,
       trim_scale(received) AS received, trim_scale(so_far) AS invoiced, trim_scale(order_price) AS order_price,
       trim_scale(price) AS invoice_price, round(excess, %(scale)s) AS amount,
       CASE WHEN excess > %(materiality)s THEN 'high' ELSE 'medium' END AS severity,
       array_remove(ARRAY[voucher], NULL) AS voucher_ids
  FROM found ORDER BY document_id, line_no
