"""What the Bookkeeper is given: a company's book as it stands, and one record to post in it.

The record is what a reader took from a document: its type, the parties, the figures under the names that the posting
rules use, and the totals that the document prints. It names no accounts (only vouchers do): they are for the
Bookkeeper to decide.

Amounts, rates, quantities and counts are decimal strings ("1190.00", "8.875", "-80"), without grouping or currency
sign, never floats. A structure that is not this one (an unknown key, "12,50" for an amount) is an error of the caller
and raises ``pydantic.ValidationError``. A figure, a fact or a date that is missing, contradicting or out of range is
part of the work and ends in a refusal.
"""

from typing import Literal

from pydantic import Field

from bookkeeping.documents.inputs import DayString, DecimalString, InputValue


class VoucherLine(InputValue):
    """One line of a voucher that states its own accounts (journal, reclassification, opening balances, closing).

    ``amount`` is in book currency and above zero; zero or less is refused (wrong_sign).
    """

    account: str
    side: Literal["debit", "credit"]
    amount: DecimalString
    text: str | None = None


class Record(InputValue):
    """One document, read and typed, ready to be booked.

    doc_type: code of the catalogue (146 types); a type that posts nothing is refused (non_posting_type).
    number: the document's own number; for a statement, the number of the statement.
    date: the day of issue; kept on the entry. Without it and without ``posting_date``: missing_input.
    posting_date: only when the record states one. In a closed period it is refused; a mere ``date`` moves forward.
    issuer, issuer_tax_number: who issued the document; part of what makes two documents the same.
    event: the stage of a document that is booked in stages ("run", "payment", "month 3"), or the line of a statement.
    currency: ISO 4217 code of the document; absent means the currency of the book.
    service_period_end: last day of the service; after the posting month, costs and revenue are deferred.
    movement: the bank's reference of the money movement. The statement line and the payment document that state the
        same movement are one event: the second posts nothing (already_booked).
    evidence_for: number of a document whose entry in this book records the same event already, as the matching found.
    reverses: number of the document in this book whose entry a ``reversal_voucher`` mirrors.
    facts: deciding fields by name ("tax": "one_rate"), as listed under decided_by of the posting rules. Those that
        follow from other keys (currency, nature, deductible_share, period, advance, rounding, basis) may be left out.
    amounts: the inputs of the rule by name (net, rate, qty, month_no, ...); ``null`` is the same as absent. An exchange
        rate ``fx`` is book currency for one unit; where the source quotes the other way round give ``fx_inverse``.
        ``lines_count`` widens the VAT tolerance. Further rates and parts continue the letters: net_c, rate_c.
    categories: keys for the account maps ("expense": "rent", "money": "cash", "origin": an account code). Where lines
        have categories of their own: expense_a, expense_b, revenue_a, revenue_b.
    stated: totals as the document prints them (net, vat, vat_a, gross, payable, wht, ...), in document currency;
        ``vat_book`` is the VAT that a foreign invoice states in book currency.
    lines: only for vouchers that state their own accounts.
    """

    doc_type: str
    number: str | None = None
    date: DayString | None = None
    posting_date: DayString | None = None
    issuer: str | None = None
    issuer_tax_number: str | None = None
    text: str | None = None
    event: str | None = None
    currency: str | None = None
    service_period_end: DayString | None = None
    movement: str | None = None
    evidence_for: str | None = None
    reverses: str | None = None
    facts: dict[str, str] = Field(default_factory=dict)
    amounts: dict[str, DecimalString | None] = Field(default_factory=dict)
    categories: dict[str, str] = Field(default_factory=dict)
    stated: dict[str, DecimalString | None] = Field(default_factory=dict)
    lines: tuple[VoucherLine, ...] = ()


class BookState(InputValue):
    """The company's book as it is before the record arrives.

    open_from, open_to: fiscal periods are calendar months; every month that touches this span exists.
    closed_through: months up to and including the one of this day are closed.
    parameters: settings of the book that override the rules' defaults (capitalisation_threshold, small_difference_max,
        cash_rounding_max, return_rounding_max), in book currency.
    history: records posted before, oldest first, through the same rules. One that is refused is an error of the caller.
        Accruals and revaluations among them are reversed on the first day of their next period once that has begun:
        the record is dated in it or later, or the period before it is closed.
    """

    company: str
    currency: str
    time_zone: str = "UTC"
    open_from: DayString
    open_to: DayString
    closed_through: DayString | None = None
    inactive_accounts: frozenset[str] = frozenset()
    parameters: dict[str, DecimalString] = Field(default_factory=dict)
    history: tuple[Record, ...] = ()


class Instruction(InputValue):
    """What a colleague asks for.

    text: in words, in any language. date: the day on which it was given, which is the day of the record where the text
    names none. standard_rate: the VAT rate, in per cent, that "plus VAT" means in this company; absent: none is taken.
    """

    text: str
    date: DayString
    standard_rate: DecimalString | None = None


class BookkeeperInputs(InputValue):
    """The input of the graph where the record is there."""

    book: BookState
    record: Record
