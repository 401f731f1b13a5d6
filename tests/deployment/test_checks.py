"""Every check ran: those of the definitions, in each job, by a real instance's event log. What is silent is told."""

from pathlib import Path

import dagster as dg
import pytest
from dagster import DagsterEventType, DagsterInstance

from eval_pipeline.definitions import defs
from eval_pipeline.deployment.alerting import silent_checks
from eval_pipeline.deployment.checks import run_rule_checks
from eval_pipeline.rules import Offence

ONE_OF_EACH = {"resources": {"request": {"config": {"limit": 1}}}}
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
SCORES = dg.AssetKey(["adder", "scores"])


def wanted(job: str) -> set[str]:
    """The checks that the definitions have on the assets of a job."""
    graph = defs().resolve_asset_graph()
    assets = defs().resolve_job_def(job).asset_layer.executable_asset_keys
    return {
        f"{key.asset_key.to_user_string()}: {key.name}" for key in graph.asset_check_keys if key.asset_key in assets
    }


def evaluated(instance: DagsterInstance, run_id: str) -> dict[str, bool]:
    """The checks that left an answer in a run, and whether they passed."""
    logs = instance.all_logs(run_id, of_type=DagsterEventType.ASSET_CHECK_EVALUATION)
    found = [entry.dagster_event.asset_check_evaluation_data for entry in logs if entry.dagster_event]
    return {f"{item.asset_key.to_user_string()}: {item.check_name}": item.passed for item in found}


@pytest.mark.parametrize("job", ["structure", "nightly", "sync"])
def test_every_check_of_the_definitions_is_evaluated_in_its_job(dagster: DagsterInstance, job: str) -> None:
    config = QUIET if job != "nightly" else {**QUIET, **ONE_OF_EACH}
    made = defs().resolve_job_def(job).execute_in_process(instance=dagster, run_config=config, raise_on_error=False)
    answers = evaluated(dagster, made.run_id)
    assert set(answers) == wanted(job)
    assert len(answers) > 40
    assert silent_checks(dagster, made.run_id) == set()
    assert [name for name, passed in answers.items() if "/dataset: " in name and not passed] == []


def test_a_check_that_raised_or_never_came_is_told_as_silent(tmp_path: Path) -> None:
    key = dg.AssetKey("looked_at")

    @dg.asset(key=key, check_specs=[dg.AssetCheckSpec("answers", asset=key), dg.AssetCheckSpec("raises", asset=key)])
    def looked_at():
        yield dg.MaterializeResult()
        yield dg.AssetCheckResult(check_name="answers", passed=True)
        raise OSError("gone")

    with DagsterInstance.local_temp(str(tmp_path)) as instance:
        made = dg.materialize([looked_at], instance=instance, raise_on_error=False)
        assert not made.success
        assert silent_checks(instance, made.run_id) == {"looked_at: raises"}


@pytest.mark.parametrize(("strict", "severity"), [(False, "WARN"), (True, "ERROR")])
def test_skips_warn_and_are_errors_under_strict(strict: bool, severity: str) -> None:
    skipped = Offence("no_skip", "adder", "was skipped", example="a")
    (found,) = (item for item in run_rule_checks(SCORES, [skipped], strict=strict) if item.check_name == "no_skip")
    assert (found.passed, found.severity.value) == (False, severity)
    assert found.metadata["n_offenders"].value == 1
    (row,) = found.metadata["offenders"].records
    assert (row.data["example"], row.data["what"]) == ("a", "was skipped")


@pytest.mark.parametrize("rule", ["no_unexpected_failure", "no_xpass"])
def test_what_is_red_is_an_error_strict_or_not(rule: str) -> None:
    for strict in (False, True):
        found = [
            item for item in run_rule_checks(SCORES, [Offence(rule, "adder", "x")], strict=strict) if not item.passed
        ]
        assert [(item.check_name, item.severity.value) for item in found] == [(rule, "ERROR")]
