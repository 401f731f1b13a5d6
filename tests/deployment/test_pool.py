"""Two nights at once: together they never run more shards than the pool of the deployment allows."""

from dagster import DagsterInstance

from eval_pipeline.definitions import defs
from eval_pipeline.deployment.outcomes import POOL


def test_two_nights_at_once_share_the_slots_of_the_pool(dagster: DagsterInstance) -> None:
    storage = dagster.event_log_storage
    storage.initialize_concurrency_limit_to_default(POOL)  # as each run does

    def may_run(night: str, shard: int) -> bool:
        return storage.claim_concurrency_slot(POOL, night, f"run[{shard}]").is_claimed

    assert [may_run("first", 0), may_run("second", 0)] == [True, True]
    assert storage.get_concurrency_info(POOL).slot_count == 2
    assert [may_run("first", 1), may_run("second", 1)] == [False, False]
    storage.free_concurrency_slot_for_step("first", "run[0]")
    # The one that waited first comes first; whoever waits goes on asking.
    assert may_run("first", 1)
    assert not may_run("second", 1)
    storage.free_concurrency_slots_for_run("first")
    assert may_run("second", 1)
    storage.free_concurrency_slots_for_run("second")


def test_every_step_that_runs_an_agent_is_in_the_pool_and_no_other_step_is() -> None:
    pools = {node.name: node.pool for node in defs().resolve_job_def("nightly").all_node_defs if hasattr(node, "pool")}
    assert {name for name, pool in pools.items() if pool == POOL} == {name for name in pools if name.startswith("run_")}
    assert len([name for name in pools if name.startswith("run_")]) == 4
