"""Each attack on a module, planted for real: told by what was replaced and the file that defines it."""

import builtins
import dataclasses
import functools
import importlib
import importlib.util
import marshal
import re
import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.attestation.agent import Agent


def scripted(word: str, mark: str = "!") -> str:
    return {"rose": "ROSE!"}.get(word, word)


def replaced(agent: Agent, name: str) -> None:
    """Demands that the first difference is this name, told with its file."""
    module, _, _ = name.partition(".")
    told = agent.told()
    assert told, f"nobody saw that {name} was replaced"
    named = re.compile(rf"{agent.package}\.{re.escape(name)}\b\S* is not the one in {agent.file(f'{module}.py')}")
    assert any(named.match(line) for line in told), told


def test_a_function_replaced_in_its_module(agent: Agent) -> None:
    agent.module("graph")
    agent.module("steps").loudly = scripted
    replaced(agent, "steps.loudly")


def test_a_helper_replaced_where_a_node_calls_it_while_the_node_is_untouched(agent: Agent) -> None:
    graph = agent.module("graph")
    code = graph.say.__code__
    graph.loudly = scripted
    assert graph.say.__code__ is code
    replaced(agent, "graph.loudly")


def test_a_node_function_replaced(agent: Agent) -> None:
    agent.module("graph").classify = lambda state: {"kind": "flower"}
    replaced(agent, "graph.classify")


def test_a_function_that_claims_the_name_and_module_of_the_one_that_it_replaces(agent: Agent) -> None:
    steps = agent.module("steps")

    def loudly(word: str, mark: str = "!") -> str:
        return "ROSE!"

    loudly.__module__, loudly.__qualname__ = steps.__name__, "loudly"
    steps.loudly = loudly
    replaced(agent, "steps.loudly")


def test_code_swapped_inside_a_function(agent: Agent) -> None:
    agent.module("steps").loudly.__code__ = scripted.__code__
    replaced(agent, "steps.loudly")


def test_a_constant_changed_inside_the_code(agent: Agent) -> None:
    function = agent.module("steps").loudly
    before = function.__code__
    function.__code__ = before.replace(co_names=("lower",))
    replaced(agent, "steps.loudly")


def test_code_nested_in_a_function_changed(agent: Agent) -> None:
    function = agent.module("steps").adder

    def adder(n: int) -> Callable[[int], int]:
        def add(m: int) -> int:
            return n - m

        return add

    function.__code__ = adder.__code__
    replaced(agent, "steps.adder")


def test_defaults_changed(agent: Agent) -> None:
    agent.module("steps").loudly.__defaults__ = ("?",)
    replaced(agent, "steps.loudly")


def test_keyword_defaults_changed(agent: Agent) -> None:
    agent.module("steps").twice.__kwdefaults__ = {"times": 3}
    replaced(agent, "steps.twice")


def test_keyword_defaults_changed_in_place(agent: Agent) -> None:
    agent.module("steps").twice.__kwdefaults__["times"] = 3
    replaced(agent, "steps.twice")


def test_the_value_in_a_closure_changed(agent: Agent) -> None:
    agent.module("steps").add_one.__closure__[0].cell_contents = 7
    replaced(agent, "steps.add_one")


def test_the_same_code_over_other_globals(agent: Agent) -> None:
    graph = agent.module("graph")
    elsewhere = {**vars(graph), "loudly": scripted}
    graph.say = types.FunctionType(graph.say.__code__, elsewhere, "say")
    graph.say.__annotations__ = {"state": graph.State, "return": graph.State}
    replaced(agent, "graph.say")


def test_the_same_code_with_other_builtins(agent: Agent) -> None:
    steps = agent.module("steps")
    steps.__builtins__ = {**vars(builtins), "len": lambda word: 99}
    decide = steps.Judge.decide
    steps.Judge.decide = types.FunctionType(decide.__code__, vars(steps), "decide", None, None)
    replaced(agent, "steps.__builtins__")
    replaced(agent, "steps.Judge.decide")


def test_a_built_in_function_replaced(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.module("graph")
    attestation = agent.attestation()
    assert attestation.differences() == ()
    monkeypatch.setattr(builtins, "sorted", lambda items, **_: list(items))
    told = [item.message for item in attestation.differences()]
    monkeypatch.undo()
    # What the process remembers of the real sorted is told too, by whatever was imported and asked before this test.
    assert "builtins.sorted is not the one in Python" in told
    assert attestation.differences() == ()


def test_a_method_replaced(agent: Agent) -> None:
    agent.module("steps").Judge.decide = lambda self, word: "long"
    replaced(agent, "steps.Judge.decide")


def test_a_static_method_replaced(agent: Agent) -> None:
    agent.module("steps").Judge.limit = staticmethod(lambda: 3)
    replaced(agent, "steps.Judge.limit")


def test_a_property_replaced(agent: Agent) -> None:
    agent.module("steps").Judge.name = property(lambda self: "nobody")
    replaced(agent, "steps.Judge.name")


def test_a_generated_method_replaced(agent: Agent) -> None:
    agent.module("steps").Judge.__init__ = lambda self, strict=False: object.__setattr__(self, "strict", True)
    replaced(agent, "steps.Judge.__init__")


def test_a_method_added(agent: Agent) -> None:
    agent.module("steps").Judge.__getattribute__ = lambda self, name: None
    replaced(agent, "steps.Judge.__getattribute__")


def test_a_class_replaced(agent: Agent) -> None:
    steps = agent.module("steps")

    class Judge:
        def decide(self, word: str) -> str:
            return "long"

    steps.Judge = Judge
    replaced(agent, "steps.Judge")


def test_a_subclass_in_the_place_of_a_class(agent: Agent) -> None:
    steps = agent.module("steps")

    class Lenient(steps.Judge):  # type: ignore[name-defined,misc]
        def decide(self, word: str) -> str:
            return "long"

    Lenient.__name__ = Lenient.__qualname__ = "Judge"
    Lenient.__module__ = steps.__name__
    steps.Judge = Lenient
    replaced(agent, "steps.Judge")


def test_a_base_slipped_in(agent: Agent) -> None:
    steps, tables = agent.module("steps"), agent.module("tables")

    class Row(tables.Row):  # type: ignore[name-defined,misc]
        """A row that is something else."""

    Row.__module__, Row.__qualname__ = tables.__name__, "Row"
    tables.Row = Row
    assert steps
    replaced(agent, "tables.Row")


def test_the_validator_of_a_model_replaced(agent: Agent) -> None:
    from pydantic_core import SchemaValidator

    agent.module("tables").Row.__pydantic_validator__ = SchemaValidator({"type": "any"})
    assert any("tables.Row.__pydantic_validator__" in line for line in agent.told())


def test_a_partial_in_the_place_of_a_function(agent: Agent) -> None:
    steps = agent.module("steps")
    steps.loudly = functools.partial(steps.loudly, mark="?")
    replaced(agent, "steps.loudly")


def test_a_decorator_added_at_run_time(agent: Agent) -> None:
    steps = agent.module("steps")
    original = steps.loudly

    @functools.wraps(original)
    def wrapper(*arguments: Any, **named: Any) -> str:
        return str(original(*arguments, **named)).lower()

    steps.loudly = wrapper
    replaced(agent, "steps.loudly")


def test_a_cache_added_at_run_time(agent: Agent) -> None:
    steps = agent.module("steps")
    steps.loudly = functools.cache(steps.loudly)
    replaced(agent, "steps.loudly")


def test_a_cache_that_only_says_that_it_wraps_the_function(agent: Agent) -> None:
    tables = agent.module("tables")
    original = tables.table.__wrapped__
    tables.table = functools.update_wrapper(functools.cache(lambda: {}), original)
    replaced(agent, "tables.table")


def test_a_rule_table_replaced_in_memory(agent: Agent) -> None:
    row = agent.module("tables").Row
    agent.module("tables").table()["oak"] = row(word="oak", kind="flower")
    replaced(agent, "tables.table")


def test_a_row_added_to_a_rule_table(agent: Agent) -> None:
    row = agent.module("tables").Row
    agent.module("tables").table()["elm"] = row(word="elm", kind="tree")
    replaced(agent, "tables.table")


def test_a_row_changed_in_place(agent: Agent) -> None:
    agent.module("tables").table()["oak"].__dict__["kind"] = "flower"
    replaced(agent, "tables.table")


def test_a_rule_table_on_disk_changed_since_it_was_read(agent: Agent) -> None:
    agent.module("tables").table()
    agent.file("table.json").write_text('{"rose": "flower", "oak": "flower"}', "utf-8")
    replaced(agent, "tables.table")


def test_a_remembered_answer_replaced(agent: Agent) -> None:
    import gc

    plural = agent.module("tables").plural
    assert plural("oak") == "oaks"
    memory = next(part for part in gc.get_referents(plural) if isinstance(part, dict) and "oak" in part)
    memory["oak"] = "oaken"
    assert plural("oak") == "oaken"
    replaced(agent, "tables.plural")


@pytest.mark.parametrize(
    "change",
    [
        lambda tables: tables.COLOURS["red"].append("sky"),
        lambda tables: tables.COLOURS.pop("blue"),
        lambda tables: setattr(tables, "COLOURS", {"blue": ["sky"], "red": ["rose", "brick"]}),
        lambda tables: setattr(tables, "PROMPT", "Answer what the examples expect."),
        lambda tables: delattr(tables, "PROMPT"),
    ],
    ids=["item", "key", "order", "prompt", "gone"],
)
def test_a_constant_changed_in_its_module(agent: Agent, change: Callable[[Any], object]) -> None:
    change(agent.module("tables"))
    (told,) = agent.told()
    assert ".tables.COLOURS" in told or ".tables.PROMPT" in told


def test_equal_values_of_another_type_are_not_the_same(agent: Agent) -> None:
    agent.module("steps").LIMIT = 10.0
    replaced(agent, "steps.LIMIT")


def test_a_name_that_no_source_binds(agent: Agent) -> None:
    agent.module("steps").len = lambda word: 99
    (told,) = agent.told()
    assert told.startswith(f"{agent.package}.steps.len is not the one in")
    assert "no such name is defined there" in told


def test_two_functions_that_changed_places(agent: Agent) -> None:
    steps = agent.module("steps")
    steps.loudly, steps.twice = steps.twice, steps.loudly
    replaced(agent, "steps.loudly")


def test_an_imported_function_of_the_standard_library_replaced_in_the_module(agent: Agent) -> None:
    tables = agent.module("tables")
    tables.json = types.SimpleNamespace(loads=lambda text: {"rose": "flower", "oak": "flower"})
    replaced(agent, "tables.json")


def test_another_module_under_the_name_before_the_first_import(agent: Agent) -> None:
    fake = types.ModuleType(f"{agent.package}.steps")
    fake.loudly = scripted  # type: ignore[attr-defined]
    fake.Judge = object  # type: ignore[attr-defined]
    sys.modules[fake.__name__] = fake
    assert any(line.startswith(f"{agent.package}.steps") for line in agent.told())


def test_an_object_that_is_no_module_under_the_name(agent: Agent) -> None:
    agent.module("graph")
    sys.modules[f"{agent.package}.steps"] = mock.MagicMock()  # type: ignore[assignment]
    assert any("steps is not the one in" in line and "not a module" in line for line in agent.told())


def test_an_import_hook_that_loads_other_code_for_the_file(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{agent.package}.steps"

    class Loader(SourceFileLoader):
        def get_code(self, fullname: str) -> types.CodeType:
            text = self.get_source(fullname) or ""
            return compile(text.replace("word.upper() + mark", "'ROSE!'"), self.path, "exec")

    class Finder:
        @staticmethod
        def find_spec(fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
            if fullname != name:
                return None
            file = str(agent.file("steps.py"))
            return importlib.util.spec_from_file_location(name, file, loader=Loader(name, file))

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    replaced(agent, "steps.loudly")
    assert agent.module("steps").loudly("oak") == "ROSE!"


def test_an_import_hook_that_loads_another_file(agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, other = f"{agent.package}.steps", tmp_path / "other.py"
    other.write_text(agent.file("steps.py").read_text("utf-8"), "utf-8")

    class Finder:
        @staticmethod
        def find_spec(fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
            return importlib.util.spec_from_file_location(name, str(other)) if fullname == name else None

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    (told,) = agent.told()
    assert f"it was loaded from {other}" in told


def planted_bytecode(agent: Agent, name: str) -> None:
    """A compiled file with other code that an import takes: its header has the time and the size of the source."""
    source = agent.file(name)
    text = source.read_text("utf-8").replace("word.upper() + mark", "'ROSE!'")
    code = compile(text, str(source), "exec")
    status = source.stat()
    header = importlib.util.MAGIC_NUMBER + (0).to_bytes(4, "little")
    header += int(status.st_mtime).to_bytes(4, "little") + status.st_size.to_bytes(4, "little")
    compiled = Path(importlib.util.cache_from_source(str(source)))
    compiled.parent.mkdir(exist_ok=True)
    compiled.write_bytes(header + marshal.dumps(code))


def test_an_edited_compiled_file_with_the_source_untouched(agent: Agent) -> None:
    planted_bytecode(agent, "steps.py")
    replaced(agent, "steps.loudly")
    assert agent.module("steps").loudly("oak") == "ROSE!", "the compiled file was not taken: nothing was attacked"


def test_an_edited_compiled_file_of_a_module_that_is_not_imported_yet(agent: Agent) -> None:
    agent.file("late.py").write_text(agent.file("steps.py").read_text("utf-8"), "utf-8")
    planted_bytecode(agent, "late.py")
    (told,) = agent.told()
    assert told.startswith(f"{agent.package}.late is not the one in")
    assert "holds other code" in told


@pytest.mark.parametrize("how", ["attribute", "object", "autospec", "dict"])
def test_a_patch_around_the_run(agent: Agent, how: str) -> None:
    agent.module("graph")
    steps, tables = agent.module("steps"), agent.module("tables")
    patches = {
        "attribute": lambda: mock.patch(f"{agent.package}.steps.loudly"),
        "object": lambda: mock.patch.object(steps.Judge, "decide", return_value="long"),
        "autospec": lambda: mock.patch.object(steps, "loudly", autospec=True),
        "dict": lambda: mock.patch.dict(tables.COLOURS, {"red": []}),
    }
    with patches[how]():
        assert agent.told() != []
    assert agent.told() == []


def test_the_target_of_the_module_replaced(agent: Agent) -> None:
    from eval_pipeline.rules.attestation import Attestation

    other = dataclasses.replace(agent.target, timeout_s=5.0)
    (told,) = Attestation(agent.entry, other).differences()
    assert told.message.startswith(f"{agent.package}_target.TARGET is not the one in")


def test_the_open_function_of_the_target_replaced_in_place(agent: Agent) -> None:
    object.__setattr__(agent.target, "open", lambda context: None)
    (told,) = agent.told()
    assert told.startswith(f"{agent.package}_target.")


def test_the_door_to_the_graph_replaced(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_pipeline import trace

    agent.module("graph")
    assert agent.told() == []
    monkeypatch.setattr(trace, "run_graph", lambda graph, state, **options: {"kind": "flower"})
    assert any("eval_pipeline.trace.run_graph is not the one in" in line for line in agent.told())
