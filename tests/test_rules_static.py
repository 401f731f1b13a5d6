"""Each static rule names a planted offender by file, example and key, and says nothing of what is in order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import pytest

from bookkeeping.ports import storage_port
from eval_pipeline.evaluator import ScoreKey, applying, evaluator
from eval_pipeline.registry import AGENTS
from eval_pipeline.rules import Offence, Rule, static
from eval_pipeline.rules.rule import static_rule
from eval_pipeline.settings import PROJECT
from eval_pipeline.suite import AgentSuite, load_agent
from eval_pipeline.target import Substitution
from eval_pipeline.verdict import Score
from tests import thinking_target
from tests.build import AGENT, ENTRY, dataset, example, grader, marker, suite, target

FILE = Path("datasets/sampler/cases.json")
YESTERDAY = datetime.now(UTC).date() - timedelta(days=1)


@storage_port
class Shelf(Protocol):
    def put(self, text: str) -> None: ...

    def take(self) -> str: ...


class Classifier(Protocol):
    def classify(self, text: str) -> str: ...


class WholeDouble:
    def put(self, text: str) -> None: ...

    def take(self) -> str:
        return ""

    def classify(self, text: str) -> str:
        return ""


class HalfDouble:
    def put(self, text: str) -> None: ...


def substituting(port: type, double: type) -> AgentSuite:
    return suite(target=target(substitutions=(Substitution(port, double),)))


def marked(*markers: Any, **changes: Any) -> AgentSuite:
    return suite(example(known_defects=markers), **changes)


@dataclass(frozen=True)
class Planted:
    """A suite with one offence against one rule, and how the rule names it."""

    suite: AgentSuite
    message: str
    example: str | None = "example-1"
    key: str | None = None
    file: Path | None = None

    @property
    def offence(self) -> Mapping[str, Any]:
        return {
            "agent": AGENT,
            "message": self.message,
            "file": FILE if self.example else self.file,
            "example": self.example,
            "key": self.key,
        }


PLANTED: dict[str, list[Planted]] = {
    "skipped_agents_is_empty": [
        Planted(suite(entry=replace(ENTRY, name="parked")), "is in SKIPPED_AGENTS; no agent may be parked", None)
    ],
    "agent_is_complete": [
        Planted(suite(broken="sampler cannot be imported: boom"), "sampler cannot be imported: boom", None)
    ],
    "every_key_is_graded": [
        Planted(
            suite(example("good"), example(expected={"answer": "four", "typo": 1})),
            "no evaluator that applies here reads it",
            key="typo",
        ),
        Planted(  # an evaluator reads it, but it does not apply to this example
            suite(
                example("good", expected={"answer": "four", "n_steps": 1, "unit": "kg"}),
                example(expected={"answer": "four", "unit": "kg"}),
                evaluators=(grader(), grader("n_correct", "n_steps", may_read=["unit"])),
            ),
            "no evaluator that applies here reads it",
            key="unit",
        ),
    ],
    "every_example_is_graded": [Planted(suite(example("good"), example(expected={})), "no evaluator applies")],
    "markers_name_scored_keys": [
        Planted(marked(marker("typo")), "a known defect names it, nothing scores it", key="typo"),
        Planted(  # scored somewhere, but not on this example
            suite(
                example("good", expected={"answer": "four", "n_steps": 1}),
                example(known_defects=[marker("n_correct")]),
                evaluators=(grader(), grader("n_correct", "n_steps")),
            ),
            "a known defect names it, nothing scores it",
            key="n_correct",
        ),
    ],
    "markers_name_excusable_keys": [
        Planted(
            marked(marker("bound"), evaluators=(grader(ScoreKey("bound", excusable=False)),)),
            "may not be excused",
            key="bound",
        )
    ],
    "only_when_names_outputs": [
        Planted(marked(marker(only_when={"n_stepps": 0})), "only_when names 'n_stepps', not an output")
    ],
    "every_marker_bites": [
        Planted(marked(marker("typo")), "inside its situation the verdict is ERROR", key="typo"),
    ],
    "no_marker_is_expired": [
        Planted(
            marked(marker(expires=str(YESTERDAY))), f"its known defect expired on {YESTERDAY}", key="answer_correct"
        )
    ],
    "no_evaluator_is_dead": [
        Planted(
            suite(evaluators=(grader(), grader("dead", "never", name="never_asked"))),
            "evaluator never_asked applies to no example (it reads never)",
            None,
        )
    ],
    "judged_keys_are_the_allowed_ones": [
        Planted(
            suite(evaluators=(grader(ScoreKey("opinion", judged=True)),)),
            "may not be judged by a model",
            None,
            "opinion",
        ),
    ],
    "only_storage_is_substituted": [
        Planted(substituting(Classifier, WholeDouble), "substitutes Classifier, which is not a storage port", None),
        Planted(substituting(Shelf, HalfDouble), "HalfDouble lacks take of Shelf", None),
    ],
    "targets_hold_no_reasoning": [
        Planted(
            suite(entry=replace(ENTRY, target=thinking_target.__name__), target=thinking_target.TARGET),
            message,
            None,
            file=Path(thinking_target.__file__),
        )
        for message in (
            "the target defines the class Scripted, which is no prerequisite (line 9)",
            "the target never calls run_graph",
        )
    ],
}
RULES = {rule.name: rule for rule in static.COMMON}


@pytest.fixture(autouse=True)
def _parked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "SKIPPED_AGENTS", frozenset({"parked"}))


def test_every_common_rule_has_a_planted_offence() -> None:
    """A rule that checks nothing cannot hide: each has an offence that it must find, below."""
    assert list(PLANTED) == [rule.name for rule in static.COMMON]
    assert all(PLANTED.values())


@pytest.mark.parametrize(
    ("name", "planted"),
    [pytest.param(name, case, id=f"{name}-{i}") for name, cases in PLANTED.items() for i, case in enumerate(cases)],
)
def test_a_rule_names_its_offender_by_file_example_and_key(name: str, planted: Planted) -> None:
    agent = "parked" if name == "skipped_agents_is_empty" else AGENT
    found = list(RULES[name].check(planted.suite))
    assert Offence(name, **{**planted.offence, "agent": agent}) in found
    assert {(offence.rule, offence.example) for offence in found} == {(name, planted.example)}
    assert set(found) <= set(static.offences(planted.suite))


WHOLE = suite(
    example("plain"),
    example("excused", known_defects=[marker()]),
    example("sometimes", known_defects=[marker(only_when={"n_steps": 0}, intermittent=True)]),
    example("either", known_defects=[marker(only_when={"n_steps": 0}), marker(only_when={"n_steps": 2})]),
    example("until_today", known_defects=[marker(expires=str(datetime.now(UTC).date() + timedelta(days=1)))]),
    example("more", expected={"answer": "four", "n_steps": 1, "unit": "kg"}),
    evaluators=(grader(), grader("n_correct", "n_steps", may_read=["unit"])),
    target=target(substitutions=(Substitution(Shelf, WholeDouble),)),
)


@pytest.mark.parametrize("rule", static.COMMON, ids=lambda rule: rule.name)
def test_a_rule_says_nothing_of_a_suite_in_order(rule: Rule) -> None:
    assert list(rule.check(WHOLE)) == []


def test_a_suite_in_order_has_no_offence() -> None:
    assert static.offences(WHOLE) == ()


@pytest.mark.parametrize(("today", "offends"), [("2027-05-31", False), ("2027-06-01", False), ("2027-06-02", True)])
def test_a_marker_holds_on_the_day_it_expires_and_not_on_the_day_after(today: str, offends: bool) -> None:
    found = static.no_marker_is_expired.check(marked(marker(expires="2027-06-01")), date.fromisoformat(today))  # type: ignore[call-arg]
    assert bool(list(found)) is offends


def test_a_marker_on_a_key_that_may_not_be_excused_is_named_even_beside_others_that_may() -> None:
    both = evaluator(reads={"answer"}, scores={"good", ScoreKey("bound", excusable=False)})(
        lambda outputs, expected: [Score("good", 1.0), Score("bound", 1.0)]
    )
    found = static.markers_name_excusable_keys.check(marked(marker("good", "bound"), evaluators=(both,)))
    assert [offence.key for offence in found] == ["bound"]


def test_the_allowed_judged_key_must_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "JUDGED_KEYS", {AGENT: frozenset({"answer_correct"})})
    rule = static.judged_keys_are_the_allowed_ones
    assert [offence.message for offence in rule.check(suite())] == ["is to be judged and no evaluator does"]
    assert list(rule.check(suite(evaluators=(grader(ScoreKey("answer_correct", judged=True)),)))) == []


def test_a_port_that_only_inherits_from_a_storage_port_is_not_one() -> None:
    class Clever(Shelf, Protocol):
        def decide(self) -> str: ...

    assert list(static.only_storage_is_substituted.check(substituting(Clever, WholeDouble)))


def test_a_pack_need_not_use_every_evaluator() -> None:
    dead = suite(evaluators=(grader(), grader("dead", "never")), pack="customers")
    assert list(static.no_evaluator_is_dead.check(dead)) == []


def test_an_agent_that_is_not_installed_is_asked_only_what_can_be_said_without_it() -> None:
    absent = marked(
        marker(expires=str(YESTERDAY)), target=None, evaluators=(), not_installed="package x is not installed"
    )
    assert {offence.rule for offence in static.offences(absent)} == {"no_marker_is_expired"}


def test_an_agent_that_cannot_be_imported_offends() -> None:
    broken = suite(target=None, evaluators=(), broken="boom")
    assert [offence.rule for offence in static.offences(broken)] == ["agent_is_complete"]


def test_a_rule_in_the_evaluators_module_of_an_agent_is_asked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    @static_rule("own", "this agent only")
    def own(asked: AgentSuite) -> list[Offence]:
        return [Offence("own", asked.name, "planted")]

    monkeypatch.setattr("tests.build.own", own, raising=False)
    assert static.offences(suite()) == (Offence("own", AGENT, "planted"),)


def test_an_offence_reads_as_one_line() -> None:
    offence = Offence("rule", AGENT, "is wrong", FILE, "example-1", "answer")
    assert str(offence) == f"sampler/example-1/answer: is wrong ({FILE})"
    assert str(Offence("rule", AGENT, "is wrong")) == "sampler: is wrong"


def test_a_package_that_the_registry_does_not_name_is_an_offence(tmp_path: Path) -> None:
    (tmp_path / "forgotten").mkdir()
    (tmp_path / "forgotten" / "graph.py").write_text("", "utf-8")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.py").write_text("", "utf-8")
    found = [offence for offence in static.unregistered(tmp_path) if offence.rule == "every_agent_is_registered"]
    assert [(offence.agent, offence.file) for offence in found] == [("forgotten", tmp_path / "forgotten")]


def test_an_agent_that_is_parked_and_not_registered_is_an_offence(tmp_path: Path) -> None:
    found = static.unregistered(tmp_path)
    assert [(offence.rule, offence.agent) for offence in found] == [("skipped_agents_is_empty", "parked")]


# The real thing


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], AgentSuite]:
    from eval_pipeline.registry import SKIPPED_AGENTS

    monkeypatch.setattr(static, "SKIPPED_AGENTS", SKIPPED_AGENTS)
    return lambda name: load_agent(next(entry for entry in AGENTS if entry.name == name), PROJECT / "datasets")


every_agent = pytest.mark.parametrize("name", [entry.name for entry in AGENTS])


@every_agent
def test_every_reference_key_is_graded_by_some_evaluator(real: Callable[[str], AgentSuite], name: str) -> None:
    """Each key of each ``expected`` is read by an evaluator that applies to that example."""
    loaded = real(name)
    assert loaded.target is not None, loaded.broken or loaded.not_installed
    keys = 0
    for item in loaded.dataset.examples:
        read = {key for one in applying(loaded.evaluators, item.expected) for key in one.reads | one.may_read}
        assert set(item.expected) <= read, item.id
        keys += len(item.expected)
    assert keys >= len(loaded.dataset.examples) > 0
    assert list(static.every_key_is_graded.check(loaded)) == []


@every_agent
def test_every_registered_agent_keeps_every_static_rule(real: Callable[[str], AgentSuite], name: str) -> None:
    assert [str(offence) for offence in static.offences(real(name))] == []


def test_every_agent_package_is_registered_and_none_is_parked(real: Callable[[str], AgentSuite]) -> None:
    assert static.unregistered() == ()


def test_a_key_that_nobody_reads_is_found_in_the_real_dataset(real: Callable[[str], AgentSuite]) -> None:
    loaded = real(AGENTS[0].name)
    first = loaded.dataset.examples[0]
    planted = first.model_copy(update={"expected": {**first.expected, "nobody_reads_this": 1}})
    changed = replace(loaded.dataset, examples=(planted, *loaded.dataset.examples[1:]))
    (offence,) = static.every_key_is_graded.check(replace(loaded, dataset=changed))
    assert (offence.example, offence.key) == (first.id, "nobody_reads_this")
    assert dataset().sources.keys() != changed.sources.keys()
