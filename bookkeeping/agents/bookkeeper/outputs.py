"""What the Bookkeeper hands back: plain JSON values, amounts as strings at the scale of the book currency."""

from typing import Literal, TypedDict

Status = Literal["posted", "refused", "nothing_to_post"]


class PostedLine(TypedDict):
    """One ledger line, as read back from the ledger: ``amount`` is above zero, in book currency."""

    account: str
    side: Literal["debit", "credit"]
    amount: str


class BookkeeperOutputs(TypedDict):
    """The result of one record.

    status: posted; refused (a reason code of general.results.reject); nothing_to_post (a code of nothing_to_post).
    reason: the code, null when posted.
    rule: document type and variant that was applied ("supplier_invoice.expense"), null when none was chosen.
    n_entries, n_lines: ledger entries and lines that this record gave rise to; 0 unless posted.
    lines: read back from the ledger after posting, in ledger order.
    balances: by account, what this record changed, debit positive; read back from the ledger.
    posting_date: YYYY-MM-DD, null unless posted.
    entry_hashes: the hash of each entry in the book's chain.
    explanation: one sentence for a person.
    """

    status: Status
    reason: str | None
    rule: str | None
    n_entries: int
    n_lines: int
    lines: list[PostedLine]
    balances: dict[str, str]
    posting_date: str | None
    entry_hashes: list[str]
    explanation: str
