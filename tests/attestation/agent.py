"""A small agent in a folder of its own: a real graph, a helper, a rule table, a class and a target, to be attacked."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from eval_pipeline.registry import AgentEntry
from eval_pipeline.rules.attestation import Attestation
from eval_pipeline.target import Target

INIT = '''"""Sorts words."""

REASONING = ("{package}",)
'''

STEPS = '''"""What the nodes call."""

from dataclasses import dataclass


def loudly(word, mark="!"):
    return word.upper() + mark


def twice(word, *, times=2):
    return word * times


def adder(n):
    def add(m):
        return n + m

    return add


add_one = adder(1)
LIMIT = 10


@dataclass(frozen=True)
class Judge:
    """Decides."""

    strict: bool = False

    def decide(self, word):
        return "long" if len(word) > self.limit() else "short"

    @staticmethod
    def limit():
        return LIMIT

    @property
    def name(self):
        return "judge"
'''

TABLES = '''"""The rule table, read once."""

import json
from functools import cache
from pathlib import Path

from pydantic import BaseModel

COLOURS = {"red": ["rose", "brick"], "blue": ["sky"]}
PROMPT = "Sort the words."


class Row(BaseModel):
    word: str
    kind: str


@cache
def table():
    text = Path(__file__).with_name("table.json").read_text("utf-8")
    return {word: Row(word=word, kind=kind) for word, kind in json.loads(text).items()}


@cache
def plural(word):
    return word + "s"
'''

GRAPH = '''"""Classify the word, then say it."""

from dataclasses import dataclass
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

from {package} import steps
from {package}.steps import loudly
from {package}.tables import table


@dataclass(frozen=True)
class Desk:
    """What is injected."""

    queue: Any


class State(TypedDict, total=False):
    word: str
    kind: str
    said: str


def classify(state: State) -> State:
    row = table().get(state["word"])
    return {{"kind": row.kind if row else steps.Judge().decide(state["word"])}}


def say(state: State) -> State:
    return {{"said": loudly(state["word"])}}


def is_known(state: State) -> bool:
    return "kind" in state


def build_graph():
    graph = StateGraph(State)
    graph.add_node("classify", classify)
    graph.add_node("say", say)
    graph.add_edge(START, "classify")
    graph.add_conditional_edges("classify", is_known, {{True: "say", False: END}})
    graph.add_edge("say", END)
    return graph.compile()
'''

TARGET = '''"""The target."""

from contextlib import contextmanager
from typing import TypedDict

from eval_pipeline.target import Target
from eval_pipeline.trace import run_graph


class Outputs(TypedDict):
    kind: str
    said: str


@contextmanager
def open_sorter(context):
    from {package}.graph import build_graph

    graph = build_graph()

    def run_one(inputs, attempt):
        return run_graph(graph, inputs)

    yield run_one


TARGET = Target(agent="{agent}", outputs=Outputs, open=open_sorter, requires=lambda inputs: ())
'''

FILES = {"__init__.py": INIT, "steps.py": STEPS, "tables.py": TABLES, "graph.py": GRAPH}


@dataclass(frozen=True)
class Agent:
    """The agent on disk. Nothing of it is imported before a test asks."""

    folder: Path
    package: str

    @property
    def entry(self) -> AgentEntry:
        """Its registration."""
        return AgentEntry(self.package, self.package, f"{self.package}_target", "tests.build")

    def file(self, name: str) -> Path:
        """A file of its package."""
        return self.folder / self.package / name

    def edit(self, name: str, old: str, new: str) -> None:
        """Edits a file of the package; ``old`` must be there exactly once."""
        text = self.file(name).read_text("utf-8")
        assert text.count(old) == 1
        self.file(name).write_text(text.replace(old, new), "utf-8")

    def module(self, name: str) -> ModuleType:
        """One of its modules, imported."""
        return importlib.import_module(f"{self.package}.{name}")

    @property
    def target(self) -> Target:
        """Its target, imported."""
        target: Target = importlib.import_module(self.entry.target).TARGET
        return target

    def attestation(self) -> Attestation:
        """Its attestation."""
        return Attestation(self.entry, self.target)

    def told(self) -> list[str]:
        """What is not as on disk, as sentences."""
        return [item.message for item in self.attestation().differences()]


@contextmanager
def written(folder: Path, package: str) -> Iterator[Agent]:
    """Writes the agent and makes it importable; afterwards nothing of it is left in the process."""
    files = {f"{package}/{name}": text for name, text in FILES.items()}
    files[f"{package}_target.py"] = TARGET
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shown = text if name.endswith(("steps.py", "tables.py")) else text.format(package=package, agent=package)
        path.write_text(shown, "utf-8")
    (folder / package / "table.json").write_text('{"rose": "flower", "oak": "tree"}', "utf-8")
    before: dict[str, Any] = dict(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield Agent(folder, package)
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - set(before):
            if name.startswith(package):
                del sys.modules[name]
