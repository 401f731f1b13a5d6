"""The honest agent is as on disk: before it ran, after it ran, and when its files have been compiled before."""

import compileall

import pytest

from eval_pipeline.guard import guarded_by
from eval_pipeline.registry import AGENTS, AgentEntry
from eval_pipeline.rules.attestation import Attestation
from eval_pipeline.settings import settings
from eval_pipeline.suite import load_agent
from eval_pipeline.trace import run_graph
from tests.attestation.agent import Agent


def test_an_agent_that_nobody_touched_is_the_one_on_disk(agent: Agent) -> None:
    assert agent.told() == []


def test_it_still_is_after_it_ran(agent: Agent) -> None:
    attestation = agent.attestation()
    assert attestation.differences() == ()
    graph = agent.module("graph").build_graph()
    with guarded_by(attestation):
        assert run_graph(graph, {"word": "rose"})["said"] == "ROSE!"
        assert run_graph(graph, {"word": "oak"})["kind"] == "tree"
    agent.module("tables").plural("oak")
    assert attestation.differences() == ()
    fresh = agent.attestation()
    fresh.check(graph, {"state": {"word": "oak"}})


def test_it_still_is_when_compiled_files_were_there_before_the_import(agent: Agent) -> None:
    assert compileall.compile_dir(agent.folder, quiet=2)
    assert agent.told() == []


def test_a_file_edited_since_the_import_is_told_until_it_is_as_before(agent: Agent) -> None:
    assert agent.told() == []
    before = agent.file("steps.py").read_text("utf-8")
    agent.edit("steps.py", "word.upper()", "word.lower()")
    (told,) = agent.told()
    assert told.startswith(f"{agent.package}.steps.loudly is not the one in ")
    agent.file("steps.py").write_text(before, "utf-8")
    assert agent.told() == []


@pytest.mark.parametrize("entry", AGENTS, ids=lambda entry: entry.name)
def test_every_registered_agent_is_the_one_on_disk(entry: AgentEntry) -> None:
    suite = load_agent(entry, settings().datasets)
    if suite.target is None:
        pytest.skip(suite.not_installed or suite.broken or "")
    assert Attestation.of(suite).differences() == ()


def test_more_remembered_answers_than_are_compared_are_forgotten(agent: Agent) -> None:
    plural = agent.module("tables").plural
    assert plural("oak") == "oaks"
    for number in range(500):
        plural(str(number))
    assert agent.told() == []
    assert plural.cache_info().currsize == 0
