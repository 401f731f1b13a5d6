WITH payments AS (
    SELECT p.payment_id, p.party_id, p.paid_on, p.account_paid, p.seq, e.voucher,
           lag(p.account_paid) OVER w AS account_before, lag(p.paid_on) OVER w AS paid_before
      FROM subledger.payments p
      JOIN subledger.parties s USING (book_id, party_id)
      LEFT JOIN ledger.entries e ON e.book_id = p.book_id AND e.seq = p.seq
     WHERE p.book_id = %(book_id)s AND p.account_paid IS NOT NULL AND NOT s.is_factored
    WINDOW w AS (PARTITION BY p.party_id ORDER BY p.paid_on, p.payment_id)
), changes AS (
    SELECT c.*, (c.at AT TIME ZONE %(zone)s)::date AS day, coalesce(u.person, c.user_id) AS person
      FROM subledger.events c
      LEFT JOIN subledger.users u USING (book_id, user_id)
     WHERE c.book_id = %(book_id)s AND c.kind = 'change_bank_details'
), found AS (
    SELECT DISTINCT ON (p.payment_id) p.*, c.at, c.user_id, c.person
      FROM payments p
      JOIN changes c ON c.party_id = p.party_id
                    AND c.day BETWEEN p.paid_on - %(days)s::int AND p.paid_on AND c.day >= p.paid_before
     WHERE p.account_paid <> p.account_before
     ORDER BY p.payment_id, c.at DESC
)
SELECT f.payment_id, f.party_id AS supplier, f.account_before AS old_account, f.account_paid AS new_account,
       f.at AS changed_at, f.user_id AS changed_by,
       CASE WHEN EXISTS (SELECT 1 FROM subledger.events r
                           LEFT JOIN subledger.users u USING (book_id, user_id)
                          WHERE r.book_id = %(book_id)s AND r.kind = 'release_payment' AND r.party_id = f.party_id
                            AND r.seq = f.seq AND coalesce(u.person, r.user_id) = f.person)
            THEN 'critical' ELSE 'high' END AS severity,
       array_remove(ARRAY[f.voucher], NULL) AS voucher_ids
  FROM found f ORDER BY f.payment_id
