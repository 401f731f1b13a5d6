"""The family hash_chain: scan, explain what breaks, compare with the anchors."""

from collections.abc import Mapping
from typing import Any

from bookkeeping.agents.auditor.book import AuditedBook
from bookkeeping.agents.auditor.chain import anchors as anchored
from bookkeeping.agents.auditor.chain.forest import forest
from bookkeeping.agents.auditor.chain.judge import HEIGHTS, Judgement
from bookkeeping.agents.auditor.chain.rows import Rows
from bookkeeping.agents.auditor.chain.scan import is_whole, scan
from bookkeeping.agents.auditor.finding import ChainResult, Examined, Finding
from bookkeeping.agents.auditor.inputs import AuditorInputs
from bookkeeping.agents.auditor.reading import Session

BY_ANCHOR = ("hash_truncated_tail", "hash_rehashed_suffix")
NO_ANCHOR = "no anchor of this chain was given"
CANNOT_EXCLUDE = "Without an anchor a cut tail and a re-hashed suffix cannot be excluded."


def verify(
    session: Session, book: AuditedBook, inputs: AuditorInputs, checks: tuple[str, ...],
    parameters: Mapping[str, Mapping[str, Any]],
) -> tuple[Examined, ChainResult]:  # fmt: skip
    """Verifies the chain of a book for these checks of the family."""
    found = scan(session, book.book_id, book.chain)
    rows = Rows(session, book.book_id, book.chain)
    findings: list[Finding] = []
    moved: dict[int, int] = {}
    explained: set[int] = set()
    if not is_whole(found):
        judgement = Judgement(rows, found, forest(found.segments, rows), book.time_zone, parameters)
        judgement.judge()
        findings, moved, explained = judgement.findings, judgement.moved, judgement.rehashed
    given = inputs.anchors_of(book.chain)
    if given:
        last_seq = found.segments[-1].last_seq if found.segments else 0
        findings += anchored.truncated(last_seq, given, inputs.latest_restore)
        findings += anchored.rehashed(rows, given, moved, explained)
    not_run = {} if given else {check: NO_ANCHOR for check in BY_ANCHOR if check in checks}
    wanted = tuple(finding for finding in findings if finding.check in checks)
    height = min((HEIGHTS[finding.check](finding.flags) for finding in wanted), default=None)
    ran = tuple(check for check in checks if check not in not_run)
    result = ChainResult(found.n, height, () if given else (CANNOT_EXCLUDE,))
    return Examined(wanted, ran, not_run), result
