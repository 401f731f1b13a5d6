"""The definitions follow the registry, and what blocks is one check alone."""

import dagster as dg
import pytest

from eval_pipeline.definitions import defs
from eval_pipeline.registry import AGENTS
from eval_pipeline.rules.static import COMMON


@pytest.fixture(scope="module")
def graph() -> object:
    return defs().resolve_asset_graph()


def test_every_registered_agent_has_its_chain_and_nothing_else_is_there(graph) -> None:
    keys = {key.to_user_string() for key in graph.get_all_asset_keys()}
    parts = ("dataset", "langsmith_dataset", "outcomes", "scores")
    chains = {f"{entry.name}/{part}" for entry in AGENTS for part in parts}
    assert keys == chains | {"board", "release_gate", "langsmith_experiments"}


def test_the_data_flows_one_way(graph) -> None:
    name = AGENTS[0].name

    def parents(*path: str) -> set[str]:
        return {key.to_user_string() for key in graph.get(dg.AssetKey(list(path))).parent_keys}

    assert parents(name, "dataset") == set()
    assert parents(name, "langsmith_dataset") == {f"{name}/dataset"}
    assert parents(name, "outcomes") == {f"{name}/dataset"}
    assert parents(name, "scores") == {f"{name}/dataset", f"{name}/outcomes"}
    assert parents("board") == {f"{entry.name}/scores" for entry in AGENTS}
    assert parents("release_gate") == {"board"}
    shown = {f"{entry.name}/{part}" for entry in AGENTS for part in ("scores", "langsmith_dataset")}
    assert parents("langsmith_experiments") == shown


def test_only_the_check_between_board_and_gate_blocks(graph) -> None:
    blocking = {(key.asset_key.to_user_string(), key.name) for key in graph.asset_check_keys if graph.get(key).blocking}
    assert blocking == {("board", "board_is_green")}


def test_every_common_static_rule_is_a_check_on_every_dataset(graph) -> None:
    checks = {(key.asset_key.to_user_string(), key.name) for key in graph.asset_check_keys}
    wanted = {(f"{entry.name}/dataset", rule.name) for entry in AGENTS for rule in COMMON}
    assert wanted <= checks


def test_every_asset_and_check_says_what_it_is(graph) -> None:
    silent = [key.to_user_string() for key in graph.get_all_asset_keys() if not graph.get(key).description]
    silent += [key.name for key in graph.asset_check_keys if not graph.get(key).description]
    assert silent == []


def test_every_job_schedule_and_sensor_says_what_it_is() -> None:
    made = defs()
    named = [*(made.jobs or ()), *(made.schedules or ()), *(made.sensors or ())]
    assert len(named) >= 4
    assert [item.name for item in named if not item.description] == []


def test_every_asset_is_in_the_group_of_its_agent_or_of_the_board(graph) -> None:
    for key in graph.get_all_asset_keys():
        agent = key.path[0] if len(key.path) > 1 else "board"
        assert graph.get(key).group_name == agent


def test_the_definitions_can_be_served_as_a_whole() -> None:
    """What the code server does, which looks at names that a single job does not: no two definitions have the same."""
    dg.Definitions.validate_loadable(defs())
    jobs = {job.name for job in defs().get_repository_def().get_all_jobs() if not job.name.startswith("__")}
    assert jobs == {"structure", "nightly", "sync", "retention"}
