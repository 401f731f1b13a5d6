"""What is put into the sink and the queue for a decision."""

import hashlib
import json
from dataclasses import dataclass

from bookkeeping.agents.clerk.governance import Case, Ruling
from bookkeeping.agents.clerk.governance.case import covering_hold
from bookkeeping.intake import FileSink, IntakeQueue, QueueItem

QUEUES = {"accept": "booking", "hold": "review"}
AREAS = {"accept": "archive", "hold": "pending"}
DESTRUCTIONS, RESTRICTED, HELD = "records", "restricted", "legal_hold"


@dataclass(frozen=True, slots=True)
class Kept:
    """What is there now, read back: the name of the queue, the area, and the paths in the order of the attachments."""

    queued: str | None
    filed: str | None
    paths: tuple[str, ...]


def area_for(case: Case, ruling: Ruling) -> str | None:
    """Where the documents are kept; None for what is rejected, and for a destruction."""
    if ruling.decision == "reject" or case.submission.request == "destroy":
        return None
    if case.is_personal:
        return RESTRICTED
    identified = case.identified
    if covering_hold(case.company, identified.doc_type, identified.fields.supplier, identified.fields.date) is not None:
        return HELD
    return AREAS[ruling.decision]


def queue_for(case: Case, ruling: Ruling) -> str | None:
    """Which queue it goes to; None for what is rejected."""
    if ruling.decision == "accept" and case.submission.request == "destroy":
        return DESTRUCTIONS
    return QUEUES.get(ruling.decision)


def file_documents(sink: FileSink, case: Case, area: str) -> tuple[str, ...]:
    """Stores every attachment with content; gives the paths. Names of attachments are no part of them."""
    return tuple(sink.store(area, item.data).path for item in case.submission.attachments if not item.is_blank)


def filed_area(sink: FileSink, paths: tuple[str, ...]) -> str | None:
    """The area in which these paths are, read back from the sink; None when there are none."""
    if not paths or not all(map(sink.holds, paths)):
        return None
    return paths[0].partition("/")[0]


def put_into_queue(queue: IntakeQueue, case: Case, ruling: Ruling, paths: tuple[str, ...], name: str) -> str | None:
    """Puts it, once; gives the queue that has it. Putting the same submission again changes nothing."""
    key = submission_key(case)
    item = QueueItem(
        key,
        name,
        {
            "company": case.company.name,
            "submitter": case.submission.submitter,
            "request": case.submission.request,
            "destroys": case.submission.destroys,
            "doc_type": case.identified.doc_type,
            "fields": case.identified.fields.model_dump(mode="json", exclude_none=True),
            "decision": ruling.decision,
            "reasons": list(ruling.reasons),
            "approvers": list(ruling.approvers),
            "paths": list(paths),
        },
    )
    queue.put(item)
    return queue.queue_of(key)


def submission_key(case: Case) -> str:
    """The idempotency key: SHA-256 over the company and all of the submission."""
    told = json.dumps([case.company.name, case.submission.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(told.encode("ascii")).hexdigest()
