"""Builders of the Clerk's inputs with good defaults: an invoice of 100.00 EUR that nothing is wrong with."""

from collections.abc import Mapping
from typing import Any

from bookkeeping.agents.clerk.fingerprint import fingerprint
from bookkeeping.agents.clerk.governance import Ruling, case_of
from bookkeeping.agents.clerk.governance import govern as govern_case
from bookkeeping.agents.clerk.identify import as_declared
from bookkeeping.agents.clerk.inputs import read_inputs

PAPER = "Birch Paper GmbH, invoice R-91 of 12 November 2026, total 100.00 EUR"
IBAN = "DE44500105175407324931"
USERS = (
    {"id": "anna", "name": "Anna Weber"},
    {"id": "ben", "name": "Ben Adeyemi", "roles": ["approver"], "limits": {"EUR": "5000.00", "USD": "2000.00"}},
    {"id": "carla", "name": "Carla Rossi", "roles": ["approver"], "limits": {"EUR": "50000.00", "USD": "2000.00"}},
    {"id": "dora", "name": "Dora Lind", "roles": ["approver", "payroll"], "limits": {"EUR": "50000.00"}},
)
COMPANY: Mapping[str, Any] = {
    "name": "Larch Trading Ltd",
    "today": "2026-11-16",
    "users": USERS,
    "suppliers": [{"id": "S-100", "name": "Birch Paper GmbH", "bank_accounts": [IBAN]}],
    "approval": {"EUR": {"none_up_to": "100.00", "one_up_to": "5000.00"}},
    "no_receipt_up_to": {"EUR": "25.00"},
    "closed_through": "2026-09-30",
}
FIELDS = {"supplier": "S-100", "number": "R-91", "date": "2026-11-12", "gross": "100.00", "currency": "EUR"}
EARLIER = {
    "id": "IN-1",
    "doc_type": "supplier_invoice",
    "decision": "accept",
    "supplier": "S-100",
    "number": "R-91",
    "date": "2026-11-12",
    "gross": "100.00",
    "currency": "EUR",
    "document": "another document with more than twenty letters",
}


def attachment(content: str = PAPER, media_type: str = "text/plain", name: str = "R-91.pdf") -> dict[str, Any]:
    return {"name": name, "content": content, "media_type": media_type}


def inputs(
    company: Mapping[str, Any] | None = None, fields: Mapping[str, Any] | None = None, **told: Any
) -> dict[str, Any]:
    """An intake. ``company`` and ``fields`` change those of the defaults, ``told`` the submission; None takes away."""
    stated = {name: value for name, value in {**FIELDS, **(fields or {})}.items() if value is not None}
    submission = {
        "submitter": "anna",
        "doc_type": "supplier_invoice",
        "fields": stated,
        "attachments": [attachment()],
        **told,
    }
    return {"company": {**COMPANY, **(company or {})}, "submission": submission}


def destroying(company: Mapping[str, Any], destroys: str = "IN-1") -> dict[str, Any]:
    """A request to destroy an earlier submission."""
    submission = {"submitter": "anna", "request": "destroy", "destroys": destroys}
    return {"company": {**COMPANY, **company}, "submission": submission}


def govern(given: Mapping[str, Any]) -> Ruling:
    """What governance decides about these inputs, the type as declared."""
    read = read_inputs(given)
    assert read.submission is not None
    principal = read.submission.principal
    taken = None if principal is None else fingerprint(principal)
    return govern_case(case_of(read, read.submission, as_declared(read.submission), taken))


def reasons(
    company: Mapping[str, Any] | None = None, fields: Mapping[str, Any] | None = None, **told: Any
) -> list[str]:
    """The codes that hold for such an intake."""
    return list(govern(inputs(company, fields, **told)).reasons)
