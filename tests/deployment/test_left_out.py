"""An agent that the selection of a Dagster run leaves out: each of its checks is answered, and none as a pass."""

import dagster as dg

from eval_pipeline.deployment.assets import not_part_of_the_run

KEY = dg.AssetKey(["adder", "scores"])


def test_every_check_of_an_agent_that_was_left_out_warns() -> None:
    specs = [dg.AssetCheckSpec(name, asset=KEY) for name in ("no_xpass", "no_skip")]
    result = not_part_of_the_run(specs)
    assert [(item.check_name, item.asset_key) for item in result.check_results or ()] == [
        ("no_xpass", KEY),
        ("no_skip", KEY),
    ]
    assert all(not item.passed for item in result.check_results or ())
    assert {item.severity for item in result.check_results or ()} == {dg.AssetCheckSeverity.WARN}
