"""Small agents for tests of the harness: real compiled LangGraph graphs, in packages of the project's copy.

The adder adds two whole numbers. Its code is the template of every planted fault: what a test needs to go wrong is
edited into the copy.
"""

from typing import Any

from tests.cli.project import Project

ADDER = "adder"

PACKAGE = '''"""Adds two whole numbers."""

from typing import TypedDict

NAME = "adder"
REASONING = ("bookkeeping.agents.adder",)


class AdderOutputs(TypedDict):
    total: int
    parity: str
'''

GRAPH = '''"""The adder's graph: add, then name the parity."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    left: int
    right: int
    total: int
    parity: str


def add(state: State) -> State:
    return {"total": state["left"] + state["right"]}


def name_parity(state: State) -> State:
    return {"parity": "odd" if state["total"] % 2 else "even"}


def build_graph():
    graph = StateGraph(State)
    graph.add_node("add", add)
    graph.add_node("name_parity", name_parity)
    graph.add_edge(START, "add")
    graph.add_edge("add", "name_parity")
    graph.add_edge("name_parity", END)
    return graph.compile()
'''

TARGET = '''"""The adder's target."""

from contextlib import contextmanager

from bookkeeping.agents.adder import AdderOutputs
from eval_pipeline.target import Target
from eval_pipeline.trace import run_graph


@contextmanager
def open_adder(context):
    from bookkeeping.agents.adder.graph import build_graph

    graph = build_graph()

    def run_one(inputs, attempt):
        final = run_graph(graph, inputs)
        return {"total": final["total"], "parity": final["parity"]}

    yield run_one


TARGET = Target(agent="adder", outputs=AdderOutputs, open=open_adder, requires=lambda inputs: ())
'''

EVALUATORS = '''"""How the adder is graded."""

from eval_pipeline.evaluator import evaluator, exact
from eval_pipeline.verdict import Score


@evaluator(reads={"total"}, scores={"total_correct"})
def total(outputs, expected):
    yield Score("total_correct", exact(outputs.get("total"), expected["total"]))


@evaluator(reads={"parity"}, scores={"parity_correct"})
def parity(outputs, expected):
    yield Score("parity_correct", exact(outputs.get("parity"), expected["parity"]))
'''


def adding(example_id: str, left: int, right: int, **more: Any) -> dict[str, Any]:
    """An example of the adder that passes; ``more`` replaces or adds keys of it."""
    total = left + right
    expected = {"total": total, "parity": "odd" if total % 2 else "even"}
    return {"id": example_id, "inputs": {"left": left, "right": right}, "expected": expected, **more}


ADDER_EXAMPLES = [adding("two-and-two", 2, 2), adding("one-and-two", 1, 2), adding("minus-and-one", -3, 1)]


def write_adder(project: Project) -> None:
    """Puts the adder into the copy, as its only registered agent."""
    project.write("bookkeeping/agents/adder/__init__.py", PACKAGE)
    project.write("bookkeeping/agents/adder/graph.py", GRAPH)
    project.write("eval_pipeline/targets/adder.py", TARGET)
    project.write("eval_pipeline/evaluators/adder.py", EVALUATORS)
    project.dataset(ADDER, ADDER_EXAMPLES)
    remove_other_agents(project)
    register(project, "bookkeeping.agents.adder")


def remove_other_agents(project: Project) -> None:
    """Takes the other agents' packages out of the copy: an unregistered package would be an offence of its own."""
    import shutil

    for folder in (project.folder / "bookkeeping" / "agents").iterdir():
        if folder.is_dir() and folder.name != ADDER:
            shutil.rmtree(folder)


def register(project: Project, *packages: str) -> None:
    """Makes these the registered agents."""
    import re

    path = project.folder / "eval_pipeline" / "registry.py"
    entries = "".join(f'agent("{package}"), ' for package in packages)
    text, n = re.subn(
        r"^AGENTS: tuple\[AgentEntry, \.\.\.\] = \([^=]*?\)$",
        f"AGENTS: tuple[AgentEntry, ...] = ({entries})",
        path.read_text("utf-8"),
        flags=re.MULTILINE,
    )
    assert n == 1, "the registry's AGENTS has another form than this test expects"
    path.write_text(text, "utf-8")
