"""A submission beside the records that its rules need."""

from dataclasses import dataclass
from datetime import date as Day

from bookkeeping.agents.clerk.fingerprint import Fingerprint
from bookkeeping.agents.clerk.governance.personal_data import has_personal_data
from bookkeeping.agents.clerk.identify import Identified
from bookkeeping.agents.clerk.inputs import ClerkInputs, Company, LegalHold, Submission, Supplier
from bookkeeping.agents.clerk.tables import DocumentClass
from bookkeeping.documents import folded

OWED = frozenset({DocumentClass.PAYABLE, DocumentClass.EXPENSE})
"""Classes of documents that ask for money."""


@dataclass(frozen=True, slots=True)
class Case:
    """All that a rule looks at.

    supplier: the known supplier that the document names. is_personal: it has personal data, by its type or its text.
    """

    company: Company
    submission: Submission
    identified: Identified
    fingerprint: Fingerprint | None
    supplier: Supplier | None
    is_personal: bool

    @property
    def is_payable(self) -> bool:
        """Whether it is what a supplier asks to be paid."""
        return self.identified.document_class is DocumentClass.PAYABLE

    @property
    def asks_for_money(self) -> bool:
        """Whether somebody is to be paid for it, a supplier or one of the company's own people."""
        return self.identified.document_class in OWED

    @property
    def parties(self) -> frozenset[str]:
        """Who may not approve: the submitter, and the person on whose behalf it is."""
        behalf = self.submission.on_behalf_of
        return frozenset({self.submission.submitter} | ({behalf} if behalf is not None else set()))


def case_of(
    inputs: ClerkInputs, submission: Submission, identified: Identified, fingerprint: Fingerprint | None
) -> Case:
    """The case of a submission."""
    texts = (submission.note, *(item.content for item in submission.attachments))
    is_personal = identified.document_class is DocumentClass.PERSONAL or has_personal_data(texts)
    supplier = find_supplier(inputs.company, identified.fields.supplier)
    return Case(inputs.company, submission, identified, fingerprint, supplier, is_personal)


def find_supplier(company: Company, named: str | None) -> Supplier | None:
    """The known supplier with this id, else the only one with this name, case and spacing aside."""
    if named is None:
        return None
    by_id = next((one for one in company.suppliers if one.id == named), None)
    if by_id is not None:
        return by_id
    wanted = folded(named)
    by_name = [one for one in company.suppliers if wanted and folded(one.name) == wanted]
    return by_name[0] if len(by_name) == 1 else None


def covering_hold(company: Company, doc_type: str | None, supplier: str | None, day: Day | None) -> LegalHold | None:
    """The first legal hold that covers a document. ``supplier`` is an id or a name, ``day`` its date or None.

    A document without a date is covered whatever the days of the hold: it could be of any of them.
    """
    known = find_supplier(company, supplier)
    return next(
        (
            hold
            for hold in company.legal_holds
            if (hold.supplier is None or (known is not None and known.id == hold.supplier))
            and (not hold.doc_types or doc_type in hold.doc_types)
            and (day is None or hold.first_day is None or hold.first_day <= day)
            and (day is None or hold.last_day is None or day <= hold.last_day)
        ),
        None,
    )
