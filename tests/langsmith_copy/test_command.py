"""``eval-pipeline sync`` and ``publish`` as a user calls them."""

import json

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app
from eval_pipeline.dataset import load_dataset
from eval_pipeline.results import outcomes, scores
from eval_pipeline.results.scores import Graded
from eval_pipeline.settings import settings
from eval_pipeline.verdict import Decision, Score, Verdict
from tests import build
from tests.langsmith_copy.service import KEY


@pytest.fixture
def sync(monkeypatch, service):
    def call(*arguments, key=KEY):
        monkeypatch.setenv("LANGSMITH_ENDPOINT", service.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", key)
        return CliRunner().invoke(app, ["sync", *arguments])

    return call


def test_check_tells_the_difference_and_changes_nothing_until_sync_does(sync, service):
    before = sync("auditor", "--check")
    assert before.exit_code == 1
    assert before.output.startswith("eval-pipeline-auditor: 340 not in the copy: ")
    assert service.datasets == {}
    done = sync("auditor")
    assert done.exit_code == 0
    assert "340 examples; 340 added, 0 changed, 0 deleted" in done.output
    after = sync("auditor", "--check", "--json")
    assert after.exit_code == 0
    assert json.loads(after.output) == {"differences": {"eval-pipeline-auditor": []}}


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("--check",), 0), (("--strict",), 1)])
def test_no_key_is_a_skip_which_is_fatal_under_strict(sync, service, arguments, code):
    ended = sync(*arguments, key="")
    assert ended.exit_code == code
    assert ended.output.strip() == "[SKIP] sync  no LangSmith: set LANGSMITH_API_KEY"
    assert service.requests == []


def test_a_run_is_published_and_the_board_says_where(monkeypatch, service, results, migrated_url):
    monkeypatch.setenv("LANGSMITH_ENDPOINT", service.url)
    monkeypatch.setenv("LANGSMITH_API_KEY", KEY)
    monkeypatch.setenv("EVAL_DATABASE_URL", migrated_url)
    settings.cache_clear()
    dataset = load_dataset(settings().datasets / "auditor")
    (example, *_) = dataset.examples
    build.start_run(results, build.agent_row(agent="auditor", dataset_digest=dataset.digest))
    found = build.outcome(example.id, agent="auditor", inputs_digest=dataset.inputs_digest(example))
    outcomes.add(results, [outcomes.encoded(found)])
    row = Graded(example.id, 0, Decision(Verdict.PASS), ((0, Score("is_right", 1.0)),))
    scores.replace(results, build.RUN, "auditor", [row], evaluators_digest="e", dataset_digest=dataset.digest)
    try:
        done = CliRunner().invoke(app, ["publish", build.RUN])
        shown = CliRunner().invoke(app, ["board", build.RUN])
        told = CliRunner().invoke(app, ["board", build.RUN, "--json"])
    finally:
        settings.cache_clear()
    assert done.exit_code == 0, done.output
    assert "auditor: 1 attempts with 1 scores, 0 skipped: " in done.output
    address = done.output.split()[-1]
    assert f"auditor at LangSmith: {address}" in shown.output
    assert json.loads(told.output)["experiments"] == {"auditor": address}
