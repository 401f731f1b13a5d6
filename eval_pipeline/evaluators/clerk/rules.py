"""The static rules of the Clerk alone: what is expected can come out, and nothing that it can decide is forgotten."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval_pipeline.dataset import Example
from eval_pipeline.rules.rule import Offence, static_rule
from eval_pipeline.suite import AgentSuite

if TYPE_CHECKING:
    from bookkeeping.agents.clerk.inputs import ClerkInputs, Company, Message, Submission

OF_INTAKE = frozenset({"decision", "reasons", "approvers", "queued", "filed"})
ALSO_OF_INTAKE = frozenset({"doc_type", "extraction", "extraction_accuracy_floor"})
OF_CHAT = frozenset({"scope"})
OF_REPLIES = frozenset({"cites", "rubric"})
QUEUES = {"accept": ("booking", "records"), "hold": ("review",), "reject": (None,)}
AREAS = {
    "accept": ("archive", "restricted", "legal_hold", None),
    "hold": ("pending", "restricted", "legal_hold", None),
    "reject": (None,),
}


@static_rule("inputs_can_be_read", "an example whose inputs are none is an error, whatever the Clerk can do")
def inputs_can_be_read(suite: AgentSuite) -> Iterable[Offence]:
    """Company, submission and message have the form that the Clerk reads."""
    for example in suite.dataset.examples:
        read = _read(suite, example)
        if isinstance(read, Unreadable):
            yield _offence("inputs_can_be_read", suite, example, read.path, read.told)


@static_rule(
    "expectations_fit_governance", "what the table of governance rules out can only be met by a wrong decision"
)
def expectations_fit_governance(suite: AgentSuite) -> Iterable[Offence]:
    """An intake example expects all that is decided, and of it the decision is the worst of the reasons."""
    for example, read in _readable(suite):
        if read.submission is not None:
            for key, told in _misfits_of_intake(example.expected, read.company, read.submission):
                yield _offence("expectations_fit_governance", suite, example, f"expected.{key}", told)


@static_rule("expectations_fit_the_scope", "a reply is judged only where one is to be written")
def expectations_fit_the_scope(suite: AgentSuite) -> Iterable[Offence]:
    """A chat example expects its scope, and records and a rubric only of a reply in scope."""
    for example, read in _readable(suite):
        if read.message is not None:
            for key, told in _misfits_of_chat(example.expected, read.company, read.message):
                yield _offence("expectations_fit_the_scope", suite, example, f"expected.{key}", told)


@static_rule("every_ruling_has_an_example", "a decision that no example has is one that nobody grades")
def every_ruling_has_an_example(suite: AgentSuite) -> Iterable[Offence]:
    """Every decision, reason and scope is expected somewhere. A pack need not have all of them."""
    from bookkeeping.agents.clerk.tables import SCOPES, WORST_FIRST, reasons

    if suite.pack is not None:
        return
    expected = [example.expected for example in suite.dataset.examples]
    wanted: Mapping[str, tuple[str, ...]] = {
        "decision": WORST_FIRST,
        "reasons": tuple(reasons()),
        "scope": SCOPES,
    }
    for key, values in wanted.items():
        seen = {value for item in expected for value in _texts(item.get(key))}
        for value in values:
            if value not in seen:
                yield Offence("every_ruling_has_an_example", suite.name, f"no example expects {value}", key=key)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Inputs that are none: where, and what is wrong."""

    path: str
    told: str


def _readable(suite: AgentSuite) -> "Iterator[tuple[Example, ClerkInputs]]":
    """The examples whose inputs can be read; the others are told by inputs_can_be_read."""
    for example in suite.dataset.examples:
        read = _read(suite, example)
        if not isinstance(read, Unreadable):
            yield example, read


def _read(suite: AgentSuite, example: Example) -> "ClerkInputs | Unreadable":
    from pydantic import ValidationError

    from bookkeeping.agents.clerk.inputs import read_inputs

    try:
        return read_inputs(suite.dataset.inputs(example))
    except ValidationError as error:
        first = error.errors()[0]
        return Unreadable(".".join(map(str, ("inputs", *first["loc"]))), str(first["msg"]))


def _texts(value: Any) -> list[str]:
    """The texts of a list, or the one text itself."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


def _misfits_of_intake(
    expected: Mapping[str, Any], company: "Company", submission: "Submission"
) -> Iterator[tuple[str, str]]:
    from bookkeeping.agents.clerk.tables import decision_of, reasons

    yield from _wrong_keys(expected, OF_INTAKE, ALSO_OF_INTAKE)
    yield from _wrong_lists(expected, ("reasons", "approvers"))
    codes = _texts(expected.get("reasons"))
    unknown = [code for code in codes if code not in reasons()]
    yield from (("reasons", f"{code!r} is no code of the table") for code in unknown)
    decision = str(expected.get("decision"))
    if not unknown and decision != decision_of(codes):
        yield "decision", f"the worst of the reasons is {decision_of(codes)}"
    users = {user.id for user in company.users}
    approvers = _texts(expected.get("approvers"))
    yield from (("approvers", f"{user!r} is no user of the company") for user in approvers if user not in users)
    for key, table in (("queued", QUEUES), ("filed", AREAS)):
        if key in expected and expected[key] not in table.get(decision, ()):
            yield key, f"is {expected[key]!r}, which {decision} does not lead to"
    yield from _misfits_of_extraction(expected, submission)


def _misfits_of_extraction(expected: Mapping[str, Any], submission: "Submission") -> Iterator[tuple[str, str]]:
    from bookkeeping.agents.clerk.inputs import Fields

    if ("extraction" in expected) != ("extraction_accuracy_floor" in expected):
        yield "extraction", "needs extraction_accuracy_floor beside it, and the other way round"
    if "extraction" not in expected:
        return
    if submission.doc_type is not None:
        yield "extraction", "the type is declared, so nothing is read"
    fields = expected["extraction"]
    if not isinstance(fields, dict) or not fields:
        yield "extraction", "no field is expected"
    else:
        unknown = sorted(fields.keys() - Fields.model_fields.keys())
        yield from ((f"extraction.{name}", "is no field that governance sees") for name in unknown)


def _misfits_of_chat(expected: Mapping[str, Any], company: "Company", message: "Message") -> Iterator[tuple[str, str]]:
    from bookkeeping.agents.clerk.tables import SCOPES

    yield from _wrong_keys(expected, OF_CHAT, OF_REPLIES)
    yield from _wrong_lists(expected, ("cites",))
    if expected.get("scope") not in SCOPES:
        yield "scope", f"{expected.get('scope')!r} is no scope"
    if expected.get("scope") != "in_scope" or not message.reply:
        yield from ((key, "nothing is to be answered here") for key in sorted(OF_REPLIES & expected.keys()))
    criteria = expected.get("rubric", ["none is expected"])
    if not isinstance(criteria, list) or not criteria or not all(text.strip() for text in _texts(criteria)):
        yield "rubric", "is no list of criteria, each a sentence"
    elif len(set(_texts(criteria))) != len(criteria):
        yield "rubric", "has a criterion twice, or one that is no text"
    known = set(company.citable_ids)
    cites = _texts(expected.get("cites"))
    yield from (("cites", f"{one!r} is no record of the company") for one in cites if one not in known)


def _wrong_lists(expected: Mapping[str, Any], keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        value = expected.get(key, [])
        if not isinstance(value, list) or value != sorted(set(_texts(value))):
            yield key, "is no sorted list of different texts"


def _wrong_keys(
    expected: Mapping[str, Any], needed: frozenset[str], allowed: frozenset[str]
) -> Iterator[tuple[str, str]]:
    yield from ((key, "is not expected") for key in sorted(needed - expected.keys()))
    yield from ((key, "is nothing that comes out here") for key in sorted(expected.keys() - needed - allowed))


def _offence(rule: str, suite: AgentSuite, example: Example, key: str, told: str) -> Offence:
    return Offence(rule, suite.name, told, suite.dataset.sources[example.id], example.id, key)
