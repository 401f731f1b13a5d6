"""Which approvals a document needs, which it has, and who is to give the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from bookkeeping.agents.clerk.governance.case import Case
from bookkeeping.agents.clerk.inputs import User
from bookkeeping.documents import compact, folded

FOR_NEW_DETAILS = 2
"""A new supplier, or another bank account: four eyes, whatever the amount."""


@dataclass(frozen=True, slots=True)
class Approval:
    """What came of it: the codes that hold, and the ids of those who are to approve yet, sorted."""

    codes: tuple[str, ...]
    approvers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Needs:
    amount: int
    supplier: int
    bank: int

    @property
    def most(self) -> int:
        return max(self.amount, self.supplier, self.bank)


def approval(case: Case) -> Approval:
    """The approvals of a document. One that asks for no money needs none; who approved is looked at all the same."""
    needs = _needs(case)
    entitled = _entitled(case)
    given = dict.fromkeys(case.submission.approvals)
    valid = [user for user in given if any(one.id == user for one in entitled)]
    missing = max(0, needs.most - len(valid))
    named = tuple(sorted(one.id for one in [one for one in entitled if one.id not in given][:missing]))
    codes = (*_standing(needs, len(valid)), *_wrong(case, given, valid))
    return Approval((*codes, "no_approver") if len(named) < missing else codes, named)


def _needs(case: Case) -> _Needs:
    if not case.asks_for_money:
        return _Needs(0, 0, 0)
    return _Needs(
        amount=_for_amount(case),
        supplier=FOR_NEW_DETAILS if _has_new_supplier(case) else 0,
        bank=FOR_NEW_DETAILS if _has_new_bank_account(case) else 0,
    )


def _for_amount(case: Case) -> int:
    fields = case.identified.fields
    limits = case.company.approval.get(fields.currency or "")
    if limits is None or fields.gross is None:
        return 0
    amount = abs(fields.gross)
    return (amount > limits.none_up_to) + (amount > limits.one_up_to)


def _has_new_supplier(case: Case) -> bool:
    named = case.identified.fields.supplier
    return case.is_payable and case.supplier is None and named is not None and bool(folded(named))


def _has_new_bank_account(case: Case) -> bool:
    stated = compact(case.identified.fields.bank_account or "")
    if case.supplier is None or not stated:
        return False
    return stated not in {compact(account) for account in case.supplier.bank_accounts}


def _entitled(case: Case) -> list[User]:
    """Who may approve it, the smallest sufficient limit first, then by id."""
    fields = case.identified.fields
    if fields.gross is None or fields.currency is None:
        return []
    amount, currency = abs(fields.gross), fields.currency
    found: list[tuple[Decimal, str, User]] = [
        (user.limits[currency], user.id, user)
        for user in case.company.users
        if user.active and "approver" in user.roles and user.id not in case.parties
        if currency in user.limits and user.limits[currency] >= amount
    ]
    return [user for _, _, user in sorted(found, key=lambda item: item[:2])]


def _standing(needs: _Needs, n_valid: int) -> Iterator[str]:
    if needs.supplier > n_valid:
        yield "new_supplier"
    if needs.bank > n_valid:
        yield "bank_detail_change"
    if needs.amount > n_valid:
        yield "approval_needed"


def _wrong(case: Case, given: dict[str, None], valid: list[str]) -> Iterator[str]:
    if case.parties & given.keys():
        yield "self_approval"
    if case.asks_for_money and given.keys() - case.parties - set(valid):
        yield "invalid_approval"
