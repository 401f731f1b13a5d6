"""What a change makes stale, by Dagster's own reckoning over Postgres: what depends on it, and nothing else."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli import changing, warm_start
from tests.cli.agents import ADDER_EXAMPLES, register
from tests.cli.project import Project

FILES = {
    "an example": ("datasets/adder/examples.json", '"left": 1', '"left": 3'),
    "the agent's code": ("bookkeeping/agents/adder/graph.py", '"odd" if', '"odd"  if'),
    "a posting rule": ("bookkeeping/agents/adder/posting_rules/sum.json", "debit", "credit"),
    "a prompt": ("bookkeeping/agents/adder/guide.md", "Add", "Sum"),
    "the target": ("eval_pipeline/targets/adder.py", "graph = build_graph()", "graph  = build_graph()"),
    "a setting of the model": ("bookkeeping/models/prices.py", '"""', '""" '),
    "an evaluator": ("eval_pipeline/evaluators/adder.py", 'reads={"parity"}', 'reads = {"parity"}'),
    "the grading": ("eval_pipeline/verdict.py", "", ""),
}
STALE = {
    "nothing": [],
    "an example": ["adder/dataset"],
    "an example, materialized": ["adder/langsmith_dataset", "adder/outcomes", "adder/scores"],
    "the agent's code": ["adder/outcomes"],
    "a posting rule": ["adder/outcomes"],
    "a prompt": ["adder/outcomes"],
    "the target": ["adder/outcomes"],
    "a setting of the model": ["subtractor/outcomes"],
    "another model": ["adder/outcomes", "subtractor/outcomes"],
    "an evaluator": ["adder/scores"],
    "the grading": ["adder/scores", "subtractor/scores"],
    "the same answers again": [],
    "other answers": ["adder/scores"],
}


def edits(folder: Path) -> dict[str, list[tuple[str, str, str]]]:
    """The changes; of files of the project itself, their first line."""
    found = {}
    for name, (path, old, new) in FILES.items():
        if path in ("eval_pipeline/verdict.py", "bookkeeping/models/prices.py"):
            old = (folder / path).read_text("utf-8").splitlines()[0]
            new = old.replace('"""', '""" ', 1)
        found[name] = [(path, old, new)]
    return found


def with_two_agents(project: Project) -> None:
    """Beside the adder a subtractor, which has a model; the adder has a rule, a prompt, and answers that may drift."""
    package = "bookkeeping/agents/{}/__init__.py"
    places = ("bookkeeping/agents/{}/graph.py", "eval_pipeline/targets/{}.py", "eval_pipeline/evaluators/{}.py")
    for path in (package, *places):
        text = (project.folder / path.format("adder")).read_text("utf-8")
        project.write(path.format("subtractor"), text.replace("adder", "subtractor").replace("Adder", "Subtractor"))
    project.edit(package.format("subtractor"), '.subtractor",)', '.subtractor", "bookkeeping.models")')
    register(project, "bookkeeping.agents.adder", "bookkeeping.agents.subtractor")
    project.dataset("subtractor", ADDER_EXAMPLES)
    project.write("bookkeeping/agents/adder/guide.md", "Add the two numbers.")
    project.write("bookkeeping/agents/adder/posting_rules/sum.json", '{"side": "debit"}')
    target = "eval_pipeline/targets/adder.py"
    project.edit(target, "from contextlib", "import os\nfrom contextlib")
    project.edit(target, 'final["total"],', 'final["total"] + int(os.environ.get("DRIFT", "0")),')


@pytest.fixture
def found(project: Project) -> dict[str, list[str]]:
    with_two_agents(project)
    shutil.copy(Path(changing.__file__), project.folder / "changing.py")
    asked = json.dumps(edits(project.folder))
    code, out, err = warm_start.run(("changing", asked), project.folder, project.env(), 100)
    assert code == 0, err[-3000:]
    value: dict[str, list[str]] = json.loads(out.splitlines()[-1])
    return value


def test_each_change_makes_stale_what_depends_on_it_and_nothing_else(found: dict[str, list[str]]) -> None:
    assert found == STALE
