"""Whether a document came in before."""

from collections.abc import Iterator
from decimal import Decimal

from bookkeeping.agents.clerk.fingerprint import digest_of, of_unknown_format
from bookkeeping.agents.clerk.governance.case import Case, find_supplier
from bookkeeping.agents.clerk.inputs import Company, Earlier
from bookkeeping.documents import compact, folded

Key = tuple[tuple[str, str], str]


def duplicates(case: Case) -> Iterator[str]:
    """The first code of a duplicate that holds, else that of a number which its supplier used before."""
    earlier = [item for item in case.company.earlier if _is_original(case, item)]
    if any(_has_same_bytes(case, item) for item in earlier):
        yield "duplicate_bytes"
    elif any(_is_same_document(case, item) for item in earlier):
        yield "duplicate_document"
    elif any(_has_same_content(case, item) for item in earlier):
        yield "duplicate_content"
    elif any(_has_same_number(case, item) for item in earlier):
        yield "number_used_before"


def _is_original(case: Case, earlier: Earlier) -> bool:
    """Whether it counts: not when it was rejected, nor when it was held and this submission continues it."""
    is_continued = earlier.decision == "hold" and earlier.id == case.submission.continues
    return earlier.decision != "reject" and not is_continued


def _has_same_bytes(case: Case, earlier: Earlier) -> bool:
    if case.fingerprint is None or earlier.document is None:
        return False
    return case.fingerprint.digest == digest_of(earlier.document)


def _has_same_content(case: Case, earlier: Earlier) -> bool:
    mine = case.fingerprint.content if case.fingerprint is not None else None
    if mine is None or earlier.document is None:
        return False
    return any(mine == other.content for other in of_unknown_format(earlier.document))


def _has_same_number(case: Case, earlier: Earlier) -> bool:
    fields = case.identified.fields
    mine = _key(case.company, fields.supplier, fields.number)
    return mine is not None and mine == _key(case.company, earlier.supplier, earlier.number)


def _is_same_document(case: Case, earlier: Earlier) -> bool:
    fields = case.identified.fields
    if not _has_same_number(case, earlier) or fields.date is None or fields.date != earlier.date:
        return False
    mine, other = _money(fields.gross, fields.currency), _money(earlier.gross, earlier.currency)
    return mine is not None and mine == other


def _money(gross: Decimal | None, currency: str | None) -> tuple[Decimal, str] | None:
    return None if gross is None or currency is None else (gross, folded(currency))


def _key(company: Company, supplier: str | None, number: str | None) -> Key | None:
    """Supplier and number in the form in which they are compared; None where one of them says nothing."""
    if supplier is None or number is None or not compact(number) or not folded(supplier):
        return None
    known = find_supplier(company, supplier)
    return (("id", known.id) if known else ("name", folded(supplier))), compact(number)
