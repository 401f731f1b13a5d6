"""What the Clerk is given: the company's records, and one submission or one message (docs/clerk.md).

Amounts are decimal strings, dates YYYY-MM-DD. A structure that is not this one is an error of the caller and raises
``pydantic.ValidationError``. What a submission lacks or contradicts is part of the work and ends in a reason.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from bookkeeping.documents.inputs import DayString, DecimalString, InputValue

Decision = Literal["accept", "hold", "reject"]
MediaType = Literal["text/plain", "text/html", "application/xml", "text/csv", "message/rfc822"]


class User(InputValue):
    """Somebody of the company. ``limits``: what an approver may approve, by currency."""

    id: str
    name: str
    roles: frozenset[Literal["approver", "payroll"]] = frozenset()
    limits: Mapping[str, DecimalString] = Field(default_factory=dict)
    active: bool = True


class Mandate(InputValue):
    """``user`` may submit for ``acts_for``, on the days from ``from`` to ``to``, both included."""

    user: str
    acts_for: str
    first_day: DayString | None = Field(None, alias="from")
    last_day: DayString | None = Field(None, alias="to")


class Supplier(InputValue):
    """A supplier that the company knows."""

    id: str
    name: str
    bank_accounts: tuple[str, ...] = ()
    blocked: bool = False


class ApprovalLimits(InputValue):
    """Of one currency: what needs no approval, and what needs one; what is above needs two."""

    none_up_to: DecimalString
    one_up_to: DecimalString

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if not 0 <= self.none_up_to <= self.one_up_to:
            raise ValueError("none_up_to must not be below zero, nor above one_up_to")
        return self


class LegalHold(InputValue):
    """Documents that must not be destroyed: those on which everything that is given here holds."""

    id: str
    supplier: str | None = None
    doc_types: frozenset[str] = frozenset()
    first_day: DayString | None = Field(None, alias="from")
    last_day: DayString | None = Field(None, alias="to")


class Fields(InputValue):
    """What a document states, as far as governance needs it. ``gross`` is in ``currency``."""

    supplier: str | None = None
    number: str | None = None
    date: DayString | None = None
    gross: DecimalString | None = None
    currency: str | None = None
    bank_account: str | None = None


class Earlier(InputValue):
    """An earlier submission. ``document`` is the content of its principal document."""

    id: str
    doc_type: str
    decision: Decision
    supplier: str | None = None
    number: str | None = None
    date: DayString | None = None
    gross: DecimalString | None = None
    currency: str | None = None
    document: str | None = None


class BookRecord(InputValue):
    """Something that the books know, told in a text. ``about``: the user whose personal data it is."""

    id: str
    kind: str
    text: str
    about: str | None = None


class Company(InputValue):
    """The company's records."""

    name: str
    today: DayString
    users: tuple[User, ...] = ()
    mandates: tuple[Mandate, ...] = ()
    suppliers: tuple[Supplier, ...] = ()
    approval: Mapping[str, ApprovalLimits] = Field(default_factory=dict)
    no_receipt_up_to: Mapping[str, DecimalString] = Field(default_factory=dict)
    closed_through: DayString | None = None
    retention_years: Annotated[int, Field(strict=True, ge=0, le=100)] = 10
    legal_holds: tuple[LegalHold, ...] = ()
    earlier: tuple[Earlier, ...] = ()
    records: tuple[BookRecord, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        for ids in ([user.id for user in self.users], self.citable_ids):
            twice = sorted({one for one in ids if ids.count(one) > 1})
            if twice:
                raise ValueError(f"ids are used twice: {', '.join(twice)}")
        return self

    @property
    def citable_ids(self) -> list[str]:
        """The ids of all that a reply may cite."""
        return [
            *(item.id for item in self.suppliers),
            *(item.id for item in self.earlier),
            *(item.id for item in self.records),
        ]

    def active_user(self, user: str | None) -> User | None:
        """The active user with this id."""
        return next((one for one in self.users if one.id == user and one.active), None)


class Attachment(InputValue):
    """A file that comes with a submission; ``content`` is its text, its bytes are that text in UTF-8."""

    name: str
    content: str
    media_type: MediaType = "text/plain"

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it: no letter and no digit."""
        return not any(character.isalnum() for character in self.content)

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return bytes_of(self.content)


class Submission(InputValue):
    """What somebody sends in. ``continues``: the held submission that comes again, with approvals or with more."""

    submitter: str
    on_behalf_of: str | None = None
    continues: str | None = None
    request: Literal["file", "destroy"] = "file"
    destroys: str | None = None
    doc_type: str | None = None
    fields: Fields = Fields()
    note: str = ""
    attachments: tuple[Attachment, ...] = ()
    approvals: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_one_request(self) -> Self:
        if (self.request == "destroy") != (self.destroys is not None):
            raise ValueError("destroys names what is to be destroyed, and nothing else")
        if self.doc_type is None and self.fields != Fields():
            raise ValueError("fields are those of a declared doc_type; without one the document is read")
        return self

    @property
    def principal(self) -> Attachment | None:
        """The document itself: the first attachment with anything in it. The others are enclosures."""
        return next((item for item in self.attachments if not item.is_blank), None)


class Message(InputValue):
    """A question. ``documents`` are texts that come with it; ``reply`` says whether the Clerk is to answer."""

    user: str
    text: str
    documents: tuple[str, ...] = ()
    reply: bool = True


class ClerkInputs(InputValue):
    """All of it: exactly one of ``submission`` and ``message``."""

    company: Company
    submission: Submission | None = None
    message: Message | None = None

    @model_validator(mode="after")
    def _is_one_way(self) -> Self:
        if (self.submission is None) == (self.message is None):
            raise ValueError("give exactly one of submission and message")
        return self


def bytes_of(text: str) -> bytes:
    """The bytes of any text that JSON can hold, lone surrogates too."""
    return text.encode("utf-8", "surrogatepass")


def read_inputs(state: Mapping[str, Any]) -> ClerkInputs:
    """The inputs as values. Raises pydantic.ValidationError."""
    names = ("company", "submission", "message")
    return ClerkInputs.model_validate({name: state[name] for name in names if name in state})
