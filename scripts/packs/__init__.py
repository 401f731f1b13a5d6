"""Turns public e-invoices into a pack for the Bookkeeper: each format has a reader, all have one booking.

A reader says what a document states (``stated``), the booking says what an accountant expects in the ledger for that
(``booking``). Neither knows the posting rules: what the pack expects is worked out from the totals that the issuer
stated, so the two can disagree.
"""
