-- Steps are taken by users; a person may have several users. What is linked: a voucher for its steps, a party for its.
WITH people AS (
    SELECT user_id, person FROM subledger.users WHERE book_id = %(book_id)s
), approved AS (
    SELECT seq FROM subledger.events WHERE book_id = %(book_id)s AND kind = 'approve_voucher'
), steps AS (
    SELECT 'create_voucher' AS kind, j.posted_at AS at, j.posted_by AS user_id, j.seq, NULL::text AS party_id
      FROM subledger.journal j
     WHERE j.book_id = %(book_id)s AND NOT j.is_reversal AND NOT j.is_reversed AND j.seq IN (SELECT seq FROM approved)
    UNION ALL
    SELECT kind, at, user_id, seq, party_id FROM subledger.events WHERE book_id = %(book_id)s
), acted AS (
    SELECT s.kind, s.at, s.seq, s.party_id, s.user_id, coalesce(p.person, s.user_id) AS person
      FROM steps s LEFT JOIN people p USING (user_id)
     WHERE NOT %(system_users)s ? s.user_id
), conflicts AS (
    SELECT pair, pair ->> 0 AS first, pair ->> 1 AS second FROM jsonb_array_elements(%(conflicts)s) AS pair
)
SELECT c.pair AS conflict, e.voucher AS voucher_id, coalesce(b.party_id, a.party_id) AS supplier, b.user_id AS user,
       jsonb_build_array(a.at, b.at) AS steps, 'high' AS severity, array_remove(ARRAY[e.voucher], NULL) AS voucher_ids
  FROM conflicts c
  JOIN acted a ON a.kind = c.first
  JOIN acted b ON b.kind = c.second AND b.person = a.person
              AND CASE WHEN c.second = 'approve_voucher' THEN b.seq = a.seq ELSE b.party_id = a.party_id END
              AND (a.kind <> 'change_bank_details'
                   OR b.at >= a.at AND b.at <= a.at + make_interval(days => %(days)s::int))
  LEFT JOIN ledger.entries e ON e.book_id = %(book_id)s AND e.seq = b.seq
 ORDER BY a.at, b.at, c.pair
