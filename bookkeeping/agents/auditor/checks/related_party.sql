WITH parties AS MATERIALIZED (
    SELECT party_id, regexp_replace(upper(bank_account), '\s', '', 'g') AS bank,
           regexp_replace(upper(tax_number), '\s', '', 'g') AS tax,
           regexp_replace(upper(address), '\s', '', 'g') AS address,
           regexp_replace(upper(phone), '\s', '', 'g') AS phone,
           regexp_replace(upper(director), '\s', '', 'g') AS director, director_born
      FROM subledger.parties WHERE book_id = %(book_id)s AND NOT is_employee
), people AS MATERIALIZED (
    SELECT employee_id, regexp_replace(upper(bank_account), '\s', '', 'g') AS bank,
           regexp_replace(upper(tax_number), '\s', '', 'g') AS tax,
           regexp_replace(upper(address), '\s', '', 'g') AS address,
           regexp_replace(upper(phone), '\s', '', 'g') AS phone,
           regexp_replace(upper(name), '\s', '', 'g') AS name, born
      FROM subledger.employees WHERE book_id = %(book_id)s
), candidates AS (
    SELECT party_id, employee_id FROM parties JOIN people USING (bank)
    UNION SELECT party_id, employee_id FROM parties JOIN people USING (tax)
    UNION SELECT party_id, employee_id FROM parties JOIN people USING (address)
    UNION SELECT party_id, employee_id FROM parties JOIN people USING (phone)
), shared AS (
    SELECT p.party_id, e.employee_id,
           array_remove(ARRAY[CASE WHEN p.bank = e.bank THEN 'bank_account' END,
                              CASE WHEN p.tax = e.tax THEN 'tax_number' END], NULL) AS alone,
           array_remove(ARRAY[CASE WHEN p.address = e.address THEN 'address' END,
                              CASE WHEN p.phone = e.phone THEN 'phone' END,
                              CASE WHEN p.director = e.name AND p.director_born = e.born THEN 'director' END],
                        NULL) AS together
      FROM candidates JOIN parties p USING (party_id) JOIN people e USING (employee_id)
), paid AS (
    SELECT p.party_id, sum(p.amount) AS total, array_remove(array_agg(e.voucher ORDER BY e.seq), NULL) AS vouchers
      FROM subledger.payments p
      LEFT JOIN ledger.entries e ON e.book_id = p.book_id AND e.seq = p.seq
     WHERE p.book_id = %(book_id)s AND p.paid_on BETWEEN %(first_day)s AND %(last_day)s AND NOT p.is_undone
     GROUP BY p.party_id
)
SELECT s.party_id, s.employee_id, s.alone || s.together AS shared_attributes, coalesce(p.total, 0) AS amount_total,
       CASE WHEN p.party_id IS NULL THEN 'medium' ELSE 'high' END AS severity, p.vouchers AS voucher_ids
  FROM shared s LEFT JOIN paid p USING (party_id)
 WHERE cardinality(s.alone) >= 1 OR cardinality(s.together) >= 2
 ORDER BY s.party_id, s.employee_id
