"""All rules together, and the decision that follows from them."""

from collections.abc import Iterator
from dataclasses import dataclass

from bookkeeping.agents.clerk.governance.approvals import approval
from bookkeeping.agents.clerk.governance.case import Case
from bookkeeping.agents.clerk.governance.destruction import destruction
from bookkeeping.agents.clerk.governance.duplicates import duplicates
from bookkeeping.agents.clerk.inputs import Company, Decision
from bookkeeping.agents.clerk.tables import DocumentClass, decision_of
from bookkeeping.documents import compact

NEEDED = {
    DocumentClass.PAYABLE: ("supplier", "number", "date", "gross", "currency"),
    DocumentClass.EXPENSE: ("date", "gross", "currency"),
    DocumentClass.PERSONAL: ("date",),
    DocumentClass.OTHER: ("date",),
}


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision, every reason for it and who is to approve; both sorted."""

    decision: Decision
    reasons: tuple[str, ...]
    approvers: tuple[str, ...]


def govern(case: Case) -> Ruling:
    """Decides. Every rule is asked, whatever another one found; the worst decision counts."""
    codes = set(_of_people(case))
    approvers: tuple[str, ...] = ()
    if case.submission.request == "destroy":
        codes.update(destruction(case))
    elif case.identified.doc_type is None:
        codes.update(_of_the_unidentified(case))
    else:
        approved = approval(case)
        codes.update(_of_document(case), duplicates(case), approved.codes)
        approvers = approved.approvers
    decision = decision_of(codes)
    return Ruling(decision, tuple(sorted(codes)), () if decision == "reject" else approvers)


def _of_people(case: Case) -> Iterator[str]:
    submission, company = case.submission, case.company
    if company.active_user(submission.submitter) is None:
        yield "unknown_user"
    behalf = submission.on_behalf_of
    if (
        behalf is not None
        and behalf != submission.submitter
        and not _has_mandate(company, submission.submitter, behalf)
    ):
        yield "no_mandate"


def _has_mandate(company: Company, user: str, acts_for: str) -> bool:
    return company.active_user(acts_for) is not None and any(
        mandate.user == user
        and mandate.acts_for == acts_for
        and (mandate.first_day is None or mandate.first_day <= company.today)
        and (mandate.last_day is None or company.today <= mandate.last_day)
        for mandate in company.mandates
    )


def _of_the_unidentified(case: Case) -> Iterator[str]:
    yield "unidentified"
    yield from (code for code in duplicates(case) if code in ("duplicate_bytes", "duplicate_content"))
    yield from _of_personal_data(case)
    if case.parties & set(case.submission.approvals):
        yield "self_approval"


def _of_document(case: Case) -> Iterator[str]:
    fields, company = case.identified.fields, case.company
    if any(
        _says_nothing(getattr(fields, name)) for name in NEEDED[case.identified.document_class or DocumentClass.OTHER]
    ):
        yield "incomplete"
    if case.supplier is not None and case.supplier.blocked:
        yield "blocked_supplier"
    if _lacks_document(case):
        yield "missing_attachment"
    if company.closed_through is not None and fields.date is not None and fields.date <= company.closed_through:
        yield "closed_period"
    if case.asks_for_money and not _says_nothing(fields.currency) and fields.currency not in company.approval:
        yield "no_approval_limit"
    yield from _of_personal_data(case)


def _says_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and not compact(value))


def _lacks_document(case: Case) -> bool:
    if not case.asks_for_money or case.submission.principal is not None:
        return False
    fields = case.identified.fields
    free = case.company.no_receipt_up_to.get(fields.currency or "")
    if case.is_payable or free is None or fields.gross is None:
        return True
    return abs(fields.gross) > free


def _of_personal_data(case: Case) -> Iterator[str]:
    submitter = case.company.active_user(case.submission.submitter)
    if case.is_personal and (submitter is None or "payroll" not in submitter.roles):
        yield "personal_data"
