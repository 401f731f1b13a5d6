"""``eval-pipeline sync`` as a user calls it."""

import json

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app
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
