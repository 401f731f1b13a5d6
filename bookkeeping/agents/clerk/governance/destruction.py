"""Whether an earlier submission may be destroyed."""

from collections.abc import Iterator

from bookkeeping.agents.clerk.governance.case import Case, covering_hold
from bookkeeping.agents.clerk.inputs import Company, Earlier


def destruction(case: Case) -> Iterator[str]:
    """The codes that hold against it."""
    wanted = case.submission.destroys
    found = next((item for item in case.company.earlier if item.id == wanted), None)
    if found is None:
        yield "unknown_submission"
        return
    if covering_hold(case.company, found.doc_type, found.supplier, found.date) is not None:
        yield "legal_hold"
    if _must_be_kept(case.company, found):
        yield "retention_period"


def _must_be_kept(company: Company, found: Earlier) -> bool:
    """Until the last day of the year that is ``retention_years`` after that of its date; without a date for ever."""
    return found.date is None or company.today.year <= found.date.year + company.retention_years
