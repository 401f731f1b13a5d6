"""The static rules of the Clerk alone: what is expected can come out, and nothing that it can decide is forgotten."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eval_pipeline.dataset import Example
from eval_pipeline.rules.rule import Offence, static_rule
from eval_pipeline.suite import AgentSuite

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
    from pydantic import ValidationError

    from bookkeeping.agents.clerk.inputs import read_inputs

    for example in suite.dataset.examples:
        try:
            read_inputs(suite.dataset.inputs(example))
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(map(str, ("inputs", *first["loc"])))
            yield _offence("inputs_can_be_read", suite, example, path, str(first["msg"]))


@static_rule(
    "expectations_fit_governance", "what the table of governance rules out can only be met by a wrong decision"
)
def expectations_fit_governance(suite: AgentSuite) -> Iterable[Offence]:
    """An intake example expects all that is decided, and of it the decision is the worst of the reasons."""
    for example in suite.dataset.examples:
        if "submission" in example.inputs:
            for key, told in _misfits_of_intake(example):
                yield _offence("expectations_fit_governance", suite, example, f"expected.{key}", told)


@static_rule("expectations_fit_the_scope", "a reply is judged only where one is to be written")
def expectations_fit_the_scope(suite: AgentSuite) -> Iterable[Offence]:
    """A chat example expects its scope, and records and a rubric only of a reply in scope."""
    for example in suite.dataset.examples:
        if "message" in example.inputs:
            for key, told in _misfits_of_chat(example):
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
        seen = {value for item in expected for value in _values(item.get(key))}
        for value in values:
            if value not in seen:
                yield Offence("every_ruling_has_an_example", suite.name, f"no example expects {value}", key=key)


def _values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _misfits_of_intake(example: Example) -> Iterator[tuple[str, str]]:
    from bookkeeping.agents.clerk.tables import decision_of, reasons

    expected = example.expected
    yield from _wrong_keys(expected, OF_INTAKE, ALSO_OF_INTAKE)
    codes, approvers = expected.get("reasons", []), expected.get("approvers", [])
    for key, value in (("reasons", codes), ("approvers", approvers)):
        if not isinstance(value, list) or value != sorted(set(value)):
            yield key, "is not sorted, or has something twice"
    unknown = [code for code in codes if code not in reasons()]
    yield from (("reasons", f"{code!r} is no code of the table") for code in unknown)
    decision = expected.get("decision")
    if not unknown and "decision" in expected and decision != decision_of(codes):
        yield "decision", f"the worst of the reasons is {decision_of(codes)}"
    users = {user.get("id") for user in example.inputs.get("company", {}).get("users", ())}
    yield from (("approvers", f"{user!r} is no user of the company") for user in approvers if user not in users)
    for key, table in (("queued", QUEUES), ("filed", AREAS)):
        if key in expected and expected[key] not in table.get(str(decision), ()):
            yield key, f"is {expected[key]!r}, which {decision} does not lead to"
    if "extraction" in expected and example.inputs["submission"].get("doc_type") is not None:
        yield "extraction", "the type is declared, so nothing is read"
    if ("extraction" in expected) != ("extraction_accuracy_floor" in expected):
        yield "extraction", "needs extraction_accuracy_floor beside it, and the other way round"
    if "extraction" in expected and not expected["extraction"]:
        yield "extraction", "no field is expected"


def _misfits_of_chat(example: Example) -> Iterator[tuple[str, str]]:
    from bookkeeping.agents.clerk.tables import SCOPES

    expected = example.expected
    yield from _wrong_keys(expected, OF_CHAT, OF_REPLIES)
    if "scope" in expected and expected["scope"] not in SCOPES:
        yield "scope", f"{expected['scope']!r} is no scope"
    is_answered = expected.get("scope") == "in_scope" and example.inputs["message"].get("reply", True)
    for key in sorted(OF_REPLIES & expected.keys()):
        if not is_answered:
            yield key, "nothing is to be answered here"
    cites = expected.get("cites", [])
    if not isinstance(cites, list) or cites != sorted(set(cites)):
        yield "cites", "is not sorted, or has something twice"
    company = example.inputs.get("company", {})
    known = {item.get("id") for name in ("suppliers", "earlier", "records") for item in company.get(name, ())}
    yield from (("cites", f"{one!r} is no record of the company") for one in cites if one not in known)


def _wrong_keys(
    expected: Mapping[str, Any], needed: frozenset[str], allowed: frozenset[str]
) -> Iterator[tuple[str, str]]:
    yield from ((key, "is not expected") for key in sorted(needed - expected.keys()))
    yield from ((key, "is nothing that comes out here") for key in sorted(expected.keys() - needed - allowed))


def _offence(rule: str, suite: AgentSuite, example: Example, key: str, told: str) -> Offence:
    return Offence(rule, suite.name, told, suite.dataset.sources[example.id], example.id, key)
