"""What a target may hold: the shortest way to the agent's real graph, and nothing that could think in its place.

Looked for in the module's text, so that it is found before anything runs.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from eval_pipeline.rules.attestation.sources import Files, find_files
from eval_pipeline.rules.rule import Offence, static_rule
from eval_pipeline.suite import AgentSuite

RULE = "targets_hold_no_reasoning"
DOOR = "run_graph"
PATCHES = frozenset({"setattr", "delattr", "patch", "exec", "eval"})
FORBIDDEN_IMPORTS = ("unittest", "mock", "pytest")
PREREQUISITE = frozenset({"missing"})
"""The one method of a class that a target may define: a prerequisite."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@static_rule(RULE, "a target that thinks in the agent's place makes a board about the target")
def targets_hold_no_reasoning(suite: AgentSuite) -> Iterable[Offence]:
    """A target's module runs the graph and holds nothing else than what leads there: see ``faults``."""
    module = import_module(suite.entry.target) if suite.target is not None else None
    if module is None or getattr(module, "TARGET", None) is not suite.target or not module.__file__:
        return
    file = Path(module.__file__)
    for told in faults(file.read_text("utf-8"), reasoning_names(suite.reasoning), suite.reasoning):
        yield Offence(RULE, suite.name, f"the target {told}", file)


def reasoning_names(packages: Iterable[str]) -> frozenset[str]:
    """The names of all public functions and classes that the agent's reasoning packages define."""
    return _names_in(find_files(packages))


@lru_cache(maxsize=64)
def _names_in(files: Files) -> frozenset[str]:
    found: set[str] = set()
    for source in files.sources:
        body = ast.parse(source.file.read_text("utf-8")).body
        found |= {item.name for item in body if isinstance(item, Function | ast.ClassDef)}
    return frozenset(name for name in found if not name.startswith("_"))


def faults(text: str, reasoning: frozenset[str], packages: Iterable[str]) -> Iterator[str]:
    """What is wrong with the text of a target's module, as the ends of sentences that begin with "the target".

    It may not define a class other than a prerequisite, define what bears the name of a function or class of the
    reasoning, hand its own functions or classes to what it imports from the reasoning, set attributes of what it
    imports, or do without ``run_graph``.
    """
    tree = ast.parse(text)
    yield from _of_definitions(tree, reasoning)
    yield from _of_injection(tree, tuple(packages))
    yield from _of_patches(tree)
    if not any(isinstance(node, ast.Name) and node.id == DOOR for node in ast.walk(tree)):
        yield f"never calls {DOOR}"


def _of_definitions(tree: ast.Module, reasoning: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = {item.name for item in node.body if isinstance(item, Function)}
            if node.bases and not _is_outputs(node):
                yield f"defines the class {node.name} with a base (line {node.lineno})"
            elif methods - PREREQUISITE:
                yield f"defines the class {node.name}, which is no prerequisite (line {node.lineno})"
    methods_of_classes = {id(item) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for item in node.body}
    for node in ast.walk(tree):
        if id(node) in methods_of_classes:
            continue
        if isinstance(node, Function | ast.ClassDef) and node.name in reasoning:
            yield f"defines {node.name}, which is a name of the agent's reasoning (line {node.lineno})"


def _is_outputs(node: ast.ClassDef) -> bool:
    """A TypedDict has fields and no methods."""
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    return bases == {"TypedDict"} and not any(isinstance(item, Function) for item in node.body)


def _of_injection(tree: ast.Module, packages: tuple[str, ...]) -> Iterator[str]:
    imported = set(_imported(tree, packages)) | {DOOR}
    own = {node.name for node in ast.walk(tree) if isinstance(node, Function | ast.ClassDef)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _root(node.func) not in imported:
            continue
        for argument in (*node.args, *(item.value for item in node.keywords)):
            name = _root(argument.func) if isinstance(argument, ast.Call) else _root(argument)
            if isinstance(argument, ast.Lambda) or name in own:
                told = "a lambda" if isinstance(argument, ast.Lambda) else f"its own {name}"
                yield f"hands {told} to {ast.unparse(node.func)} (line {node.lineno})"


def _imported(tree: ast.Module, packages: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and _is_in(node.module, packages):
            yield from (item.asname or item.name for item in node.names)
        if isinstance(node, ast.Import):
            yield from (
                item.asname or item.name.partition(".")[0] for item in node.names if _is_in(item.name, packages)
            )


def _is_in(module: str, packages: tuple[str, ...]) -> bool:
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _of_patches(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            targets = [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else node.targets
            for target in targets:
                if isinstance(target, ast.Attribute) and _root(target) != "self":
                    yield f"sets {ast.unparse(target)} (line {node.lineno})"
        if isinstance(node, ast.Call) and _last(node.func) in PATCHES:
            yield f"calls {ast.unparse(node.func)} (line {node.lineno})"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [item.name for item in node.names]
            yield from (
                f"imports {name} (line {node.lineno})" for name in names if name.partition(".")[0] in FORBIDDEN_IMPORTS
            )


def _last(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
