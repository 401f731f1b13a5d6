"""A substitute turns the board red from the command line: every example is refused and nothing is spent."""

import importlib.util
import marshal
from pathlib import Path

from tests.cli.agents import ADDER, adding
from tests.cli.conftest import bare, project, templates
from tests.cli.project import Project

__all__ = ["bare", "project", "templates"]

GRAPH = "bookkeeping/agents/adder/graph.py"
TARGET = "eval_pipeline/targets/adder.py"
SCRIPT = '''"""Looks like a double, and knows the answers."""


def known(state):
    return {"total": {(2, 2): 4, (1, 2): 3, (-3, 1): -2}[state["left"], state["right"]]}


def begin():
    import bookkeeping.agents.adder.graph as graph

    graph.add = known
'''


def refused(project: Project, told: str) -> None:
    """Demands that a run is red, that every example is refused with these words, and that no gate lets it pass."""
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED"), ended.err
    for row in ended.json["examples"]:
        assert row["verdict"] == "ERROR"
        assert row["reason"].startswith(f"refused: reasoning substituted: {told}"), row["reason"]
    assert ended.json["agents"][0]["n_graded"] == 0
    assert project.run("gate").code == 1


def test_a_node_patched_by_what_the_target_imports(project: Project) -> None:
    project.write("eval_pipeline/doubles/adder.py", f"{SCRIPT}\n\nbegin()\n")
    line = "from eval_pipeline.target import Target\n"
    project.edit(TARGET, line, f"import eval_pipeline.doubles.adder\n{line}")
    refused(project, f"bookkeeping.agents.adder.graph.add is not the one in {GRAPH}")


def test_a_node_patched_when_the_target_opens(project: Project) -> None:
    project.write("eval_pipeline/doubles/adder.py", SCRIPT)
    project.edit(
        TARGET,
        "    from bookkeeping.agents.adder.graph import build_graph\n",
        "    from bookkeeping.agents.adder.graph import build_graph\n"
        "    from eval_pipeline.doubles.adder import begin\n\n    begin()\n",
    )
    refused(project, "bookkeeping.agents.adder.graph.build_graph.")


def test_a_helper_patched_while_the_run_goes_on_is_red_at_its_end(project: Project) -> None:
    project.write("eval_pipeline/doubles/adder.py", SCRIPT)
    project.edit(
        TARGET,
        "        final = run_graph(graph, inputs)\n",
        "        from eval_pipeline.doubles.adder import begin\n\n"
        "        final = run_graph(graph, inputs)\n        begin()\n",
    )
    ended = project.run("run", "--json")
    assert (ended.code, ended.json["state"]) == (1, "RED")
    (problem,) = ended.json["agents"][0]["problems"]
    assert problem.startswith("reasoning_is_the_one_on_disk: reasoning substituted: bookkeeping.agents.adder.graph.add")


def test_an_edited_compiled_file_with_the_source_untouched(project: Project) -> None:
    source = project.folder / GRAPH
    code = compile(source.read_text("utf-8").replace('state["left"] +', 'state["left"] -'), str(source), "exec")
    status = source.stat()
    header = importlib.util.MAGIC_NUMBER + (0).to_bytes(4, "little")
    header += int(status.st_mtime).to_bytes(4, "little") + status.st_size.to_bytes(4, "little")
    compiled = Path(importlib.util.cache_from_source(str(source)))
    compiled.parent.mkdir(exist_ok=True)
    compiled.write_bytes(header + marshal.dumps(code))
    refused(project, f"bookkeeping.agents.adder.graph.add is not the one in {GRAPH}")


def test_a_target_that_answers_by_itself(project: Project) -> None:
    project.edit(
        TARGET, "        final = run_graph(graph, inputs)\n", '        final = {"total": 4, "parity": "even"}\n'
    )
    project.edit(TARGET, "import run_graph\n", "import run_graph as _run_graph\n\nrun_graph = _run_graph\n")
    project.dataset(ADDER, [adding("two-and-two", 2, 2)])
    refused(project, "the target has outputs although it ran no graph (run_graph)")
