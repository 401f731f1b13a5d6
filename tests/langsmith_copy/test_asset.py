"""The asset of a copy: what it does at a real service's HTTP API, without one, and when the service fails."""

import dagster as dg
import pytest

from eval_pipeline.dataset import load_dataset
from eval_pipeline.deployment.langsmith import RULE, copy_asset
from eval_pipeline.langsmith_copy import compare, dataset_name
from eval_pipeline.registry import agent
from eval_pipeline.settings import settings
from tests.langsmith_copy.conftest import connect
from tests.langsmith_copy.service import KEY

ENTRY = agent("bookkeeping.agents.auditor")
ASSET = dg.AssetKey(["auditor", "langsmith_dataset"])


@pytest.fixture
def copied(monkeypatch):
    """Materializes the copy with a key; gives the materialization's metadata and the check's result."""
    made_of = copy_asset(ENTRY, ASSET, dg.AssetKey(["auditor", "dataset"]))

    def materialize(url, key):
        monkeypatch.setenv("LANGSMITH_ENDPOINT", url)
        monkeypatch.setenv("LANGSMITH_API_KEY", key)
        with dg.DagsterInstance.ephemeral() as instance:
            made = dg.materialize([made_of], instance=instance, raise_on_error=False)
        assert made.success
        (event,) = made.get_asset_materialization_events()
        (check,) = made.get_asset_check_evaluations()
        assert check.check_name == RULE
        return event.step_materialization_data.materialization.metadata, check

    return materialize


def test_the_copy_is_made_and_its_version_told(copied, service):
    told, check = copied(service.url, KEY)
    repo = load_dataset(settings().datasets / "auditor")
    assert check.passed
    assert told["n_examples"].value == told["n_added"].value == len(repo.examples)
    assert f"digest-{repo.digest[:32]}" in told["tags"].value
    assert not compare(connect(service), repo)


def test_without_a_key_nothing_is_copied_and_a_warning_says_why(copied, service):
    told, check = copied(service.url, " ")
    assert (check.passed, check.severity.value) == (False, "WARN")
    assert told["not done"].value == "no LangSmith: set LANGSMITH_API_KEY"
    assert service.requests == []


def test_a_service_that_refuses_is_an_error_of_the_check_and_not_of_the_night(copied, service):
    told, check = copied(service.url, "lsv2_pt_wrong")
    assert (check.passed, check.severity.value) == (False, "ERROR")
    assert "refuses the key" in told["not done"].value
    assert not any(held.name == dataset_name("auditor") for held in service.datasets.values())
