"""Code links: each asset of the definitions leads to the files that say how it behaves."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from eval_pipeline.definitions import defs
from eval_pipeline.deployment.sources import Source, code_links, outcome_sources, score_sources
from eval_pipeline.registry import agent
from eval_pipeline.settings import PROJECT, settings

References = list[dg.LocalFileCodeReference | dg.UrlCodeReference]


@pytest.fixture(autouse=True)
def fresh_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.cache_clear()
    yield
    monkeypatch.undo()
    settings.cache_clear()


def references(links: object) -> References:
    return links["dagster/code_references"].code_references  # type: ignore[index,no-any-return]


def local(links: object) -> dict[str, tuple[str, int | None]]:
    """Path in the project and line of each link, by its label."""
    return {
        str(item.label): (Path(item.file_path).relative_to(PROJECT).as_posix(), item.line_number)
        for item in references(links)
        if isinstance(item, dg.LocalFileCodeReference)
    }


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("typewriter/dataset", {"datasets/typewriter", "eval_pipeline/rules/static.py"}),
        ("typewriter/outcomes", {"bookkeeping/agents/typewriter/graph.py", "eval_pipeline/targets/typewriter.py"}),
        ("typewriter/scores", {"eval_pipeline/evaluators/typewriter/__init__.py", "eval_pipeline/verdict.py"}),
        ("auditor/scores", {"eval_pipeline/evaluators/auditor.py", "eval_pipeline/verdict.py"}),
        ("board", {"eval_pipeline/board.py"}),
        ("release_gate", {"eval_pipeline/gate.py"}),
    ],
)
def test_an_asset_leads_to_what_defines_it(key: str, wanted: set[str]) -> None:
    node = defs().resolve_asset_graph().get(dg.AssetKey.from_user_string(key))
    assert {path for path, _ in local(node.metadata).values()} == wanted


def test_every_asset_has_a_link_and_no_link_leads_nowhere() -> None:
    graph = defs().resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        found = local(graph.get(key).metadata)
        assert found, key
        assert [path for path, _ in found.values() if not (PROJECT / path).exists()] == []


def test_a_link_opens_the_line_where_the_graph_is_built() -> None:
    path, line = local(code_links(outcome_sources(agent("bookkeeping.agents.clerk"))))["graph"]
    assert line is not None
    assert (PROJECT / path).read_text("utf-8").splitlines()[line - 1].startswith("def build_graph(")


def test_a_folder_has_no_line_and_a_file_without_the_text_is_opened_at_its_top(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n\ny = 2\n", "utf-8")
    sources = [Source(text, tmp_path / name, text) for name, text in (("a.py", "y ="), ("a.py", "z ="), ("", "x"))]
    assert [item.line_number for item in references(code_links(sources))] == [3, 1, None]  # type: ignore[union-attr]


def test_links_are_made_without_a_warning_to_whoever_runs_a_command() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert references(code_links(outcome_sources(agent("bookkeeping.agents.clerk"))))


def test_an_agent_that_is_not_installed_takes_no_definition_away() -> None:
    absent = agent("no_such_package.agents.absent")
    assert references(code_links(outcome_sources(absent))) == []
    assert set(local(code_links(score_sources(absent)))) == {"verdicts"}


@pytest.mark.parametrize(
    "base", ["https://git.example.com/us/evals/blob/main", "https://git.example.com/us/evals/blob/main/"]
)
def test_where_the_code_can_be_read_elsewhere_links_lead_there(
    base: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EVAL_SOURCE_URL", base)
    ours, line = PROJECT / "eval_pipeline" / "verdict.py", 1
    (tmp_path / "own.py").write_text("", "utf-8")
    inside, folder, outside = references(
        code_links([Source("a", ours), Source("b", PROJECT / "datasets" / "clerk"), Source("c", tmp_path / "own.py")])
    )
    root = "https://git.example.com/us/evals/blob/main"
    assert isinstance(inside, dg.UrlCodeReference)
    assert inside.url == f"{root}/eval_pipeline/verdict.py#L{line}"
    assert isinstance(folder, dg.UrlCodeReference)
    assert folder.url == f"{root}/datasets/clerk"
    assert isinstance(
        outside, dg.LocalFileCodeReference
    )  # an agent's package of somebody's own, in no repository of ours
