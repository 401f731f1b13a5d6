"""Every rule that only one agent has finds something, planted in that agent's real dataset."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from eval_pipeline.dataset import Dataset, Example
from eval_pipeline.rules import Offence, Rule
from eval_pipeline.rules.rule import static_rule
from eval_pipeline.rules.static import COMMON, rules_of
from eval_pipeline.suite import AgentSuite
from tests.evaluators.registered import SUITES

Planting = Callable[[AgentSuite], AgentSuite]


def with_first(suite: AgentSuite, key: str, change: Callable[[Example], Example]) -> AgentSuite:
    """The suite with its first example that expects ``key`` changed."""
    examples = list(suite.dataset.examples)
    place = next(place for place, item in enumerate(examples) if item.expected.get(key))
    examples[place] = change(examples[place])
    old = suite.dataset
    return replace(suite, dataset=Dataset(old.agent, old.folder, tuple(examples), old.sources, old.texts, old.builders))


def unbalanced(suite: AgentSuite) -> AgentSuite:
    """One line of one example is a cent too much."""

    def change(example: Example) -> Example:
        first, *others = example.expected["lines"]
        lines = [{**first, "amount": f"{first['amount']}1"}, *others]
        return example.model_copy(update={"expected": {**example.expected, "lines": lines}})

    return with_first(suite, "lines", change)


def miscounted(suite: AgentSuite) -> AgentSuite:
    """One example expects one finding more than it lists."""

    def change(example: Example) -> Example:
        expected = {**example.expected, "n_findings": len(example.expected["findings"]) + 1}
        return example.model_copy(update={"expected": expected})

    return with_first(suite, "findings", change)


def one_example_only(suite: AgentSuite) -> AgentSuite:
    """All examples but one are gone."""
    old = suite.dataset
    kept = old.examples[:1]
    return replace(suite, dataset=Dataset(old.agent, old.folder, kept, old.sources, old.texts, old.builders))


def of_no_type(suite: AgentSuite) -> AgentSuite:
    """One document is expected to be of a type that the catalogue does not have."""

    def change(example: Example) -> Example:
        return example.model_copy(update={"expected": {**example.expected, "doc_type": "no_such_type"}})

    return with_first(suite, "doc_type", change)


def without_fields(suite: AgentSuite) -> AgentSuite:
    """Of one document no field is expected."""

    def change(example: Example) -> Example:
        kept = {key: value for key, value in example.expected.items() if key != "fields"}
        return example.model_copy(update={"expected": kept})

    return with_first(suite, "fields", change)


def with_an_unknown_input(suite: AgentSuite) -> AgentSuite:
    """One submission has a key that no submission has."""

    def change(example: Example) -> Example:
        submission = {**example.inputs["submission"], "surprise": 1}
        return example.model_copy(update={"inputs": {**example.inputs, "submission": submission}})

    return with_first(suite, "decision", change)


def decided_too_well(suite: AgentSuite) -> AgentSuite:
    """One submission is to be accepted although it has reasons against it."""

    def change(example: Example) -> Example:
        return example.model_copy(update={"expected": {**example.expected, "decision": "accept"}})

    return with_first(suite, "reasons", change)


def judged_out_of_scope(suite: AgentSuite) -> AgentSuite:
    """One rubric is for a message that is to be refused."""

    def change(example: Example) -> Example:
        return example.model_copy(update={"expected": {**example.expected, "scope": "elsewhere"}})

    return with_first(suite, "rubric", change)


PLANTED: Mapping[tuple[str, str], Planting] = {
    ("bookkeeper", "expected_lines_balance"): unbalanced,
    ("auditor", "expected_findings_are_counted"): miscounted,
    ("auditor", "every_check_has_examples"): one_example_only,
    ("typewriter", "expectations_fit_the_catalogue"): of_no_type,
    ("typewriter", "documents_are_complete"): without_fields,
    ("typewriter", "every_type_has_an_example"): one_example_only,
    ("clerk", "inputs_can_be_read"): with_an_unknown_input,
    ("clerk", "expectations_fit_governance"): decided_too_well,
    ("clerk", "expectations_fit_the_scope"): judged_out_of_scope,
    ("clerk", "every_ruling_has_an_example"): one_example_only,
}


def silent(rules: Mapping[tuple[str, str], Rule], planted: Mapping[tuple[str, str], Planting]) -> Iterator[str]:
    """The rules that nothing is planted for, or that do not see what is."""
    for name, rule in rules.items():
        if name not in planted:
            yield f"{'/'.join(name)}: nothing is planted for it"
        elif not any(True for _ in rule.check(planted[name](SUITES[name[0]]))):
            yield f"{'/'.join(name)} does not see what is planted for it"


def rules_of_agents() -> dict[tuple[str, str], Rule]:
    """The rules that only one agent has, of all registered agents."""
    return {(name, rule.name): rule for name, suite in SUITES.items() for rule in rules_of(suite) if rule not in COMMON}


def test_every_rule_of_an_agent_sees_what_is_planted_for_it() -> None:
    assert list(silent(rules_of_agents(), PLANTED)) == []


@static_rule("expected_lines_balance", "checks nothing")
def checks_nothing(suite: AgentSuite) -> Iterable[Offence]:
    """Always content."""
    return ()


def test_a_planted_rule_that_checks_nothing_is_found() -> None:
    name = ("bookkeeper", "expected_lines_balance")
    assert list(silent({name: checks_nothing}, PLANTED)) == [f"{'/'.join(name)} does not see what is planted for it"]
    assert list(silent({name: checks_nothing}, {})) == [f"{'/'.join(name)}: nothing is planted for it"]
