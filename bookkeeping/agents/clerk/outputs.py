"""What the Clerk hands back: plain JSON. Of the way that was not gone everything is null, [] or {}."""

from typing import Literal, TypedDict


class ClerkOutputs(TypedDict):
    """The result of one submission or message.

    reasons, approvers, cites: sorted. queued, filed: read back from the queue and the sink, the name of the queue and
    of the area, null where nothing was put. filed_paths: in the order of the attachments.
    extraction: the fields as governance saw them; amounts as decimal strings, dates YYYY-MM-DD.
    """

    way: Literal["intake", "chat"]
    decision: Literal["accept", "hold", "reject"] | None
    reasons: list[str]
    approvers: list[str]
    queued: str | None
    filed: str | None
    filed_paths: list[str]
    doc_type: str | None
    identified_by: Literal["declared", "typewriter"] | None
    extraction: dict[str, str]
    scope: str | None
    scope_decided_by: Literal["rules", "model"] | None
    reply: str | None
    cites: list[str]
