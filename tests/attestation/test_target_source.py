"""A target that thinks in the agent's place is found in its text, before anything runs."""

import pytest

from eval_pipeline.registry import AGENTS, AgentEntry
from eval_pipeline.rules.static import offences
from eval_pipeline.rules.target_source import faults, reasoning_names, targets_hold_no_reasoning
from eval_pipeline.settings import settings
from eval_pipeline.suite import AgentSuite, load_agent
from tests import build
from tests.attestation.agent import TARGET, Agent

HONEST = TARGET.format(package="sorter", agent="sorter")
REASONING = frozenset({"classify", "Judge"})


def told(text: str) -> list[str]:
    """What is wrong with this target of the sorter."""
    return list(faults(text, REASONING, ["sorter"]))


def with_line(line: str) -> str:
    """The honest target with a line more in the function that opens it."""
    return HONEST.replace("    graph = build_graph()", f"    {line}\n    graph = build_graph()")


def test_an_honest_target_holds_no_reasoning() -> None:
    assert told(HONEST) == []


def test_a_prerequisite_of_the_target_s_own_is_no_reasoning() -> None:
    assert told(f"{HONEST}\n\nclass Scanner:\n    def missing(self, context):\n        return None\n") == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"{HONEST}\n\ndef classify(state):\n    return 'flower'\n", "defines classify, which is a name of"),
        (f"{HONEST}\n\nclass Judge:\n    pass\n", "defines Judge, which is a name of"),
        (f"{HONEST}\n\nclass Scripted:\n    def decide(self, word): ...\n", "defines the class Scripted, which is no"),
        (f"{HONEST}\n\nclass Scripted(Base):\n    pass\n", "defines the class Scripted with a base"),
        (HONEST.replace("build_graph()", "build_graph(lambda word: 'flower')"), "hands a lambda to build_graph"),
        (HONEST.replace("build_graph()", "build_graph(judge=open_sorter)"), "hands its own open_sorter to build_graph"),
        (HONEST.replace("build_graph()", "build_graph(Outputs())"), "hands its own Outputs to build_graph"),
        (HONEST.replace("(graph, inputs)", "(graph, inputs, context=Outputs())"), "hands its own Outputs to run_graph"),
        (with_line("build_graph.judge = None"), "sets build_graph.judge"),
        (with_line("setattr(build_graph, 'judge', None)"), "calls setattr"),
        (with_line("mock.patch('sorter.steps.loudly').start()"), "calls mock.patch"),
        (with_line("from unittest import mock"), "imports unittest"),
        (HONEST.replace("run_graph", "invoke_graph"), "never calls run_graph"),
    ],
)
def test_a_target_that_holds_reasoning_is_told_with_what_it_does(text: str, what: str) -> None:
    (found,) = told(text)
    assert found.startswith(what)


def suite_of(agent: Agent) -> AgentSuite:
    """The agent as it is loaded when it is registered."""
    return build.suite(entry=agent.entry, target=agent.target)


def test_the_rule_reads_the_file_of_the_registered_target(agent: Agent) -> None:
    suite = suite_of(agent)
    assert [item for item in offences(suite) if item.rule == "targets_hold_no_reasoning"] == []
    file = agent.folder / f"{agent.package}_target.py"
    file.write_text(file.read_text("utf-8") + "\n\ndef loudly(word):\n    return 'ROSE!'\n", "utf-8")
    (offence,) = targets_hold_no_reasoning.check(suite)
    assert offence.file == file
    assert "defines loudly, which is a name of the agent's reasoning" in str(offence)


def test_the_names_of_the_reasoning_are_those_that_its_files_define(agent: Agent) -> None:
    assert reasoning_names([agent.package]) >= {"loudly", "Judge", "Row", "table", "classify", "build_graph"}


@pytest.mark.parametrize("entry", AGENTS, ids=lambda entry: entry.name)
def test_every_registered_target_holds_no_reasoning(entry: AgentEntry) -> None:
    assert list(targets_hold_no_reasoning.check(load_agent(entry, settings().datasets))) == []
