"""``eval-pipeline judge``: what it tells of a judge, and when it is not content."""

import io
import json

import pytest
from rich.console import Console

from bookkeeping.models import NoModel
from bookkeeping.models.anthropic import AnthropicModel, Patience
from eval_pipeline.commands import judge as command
from eval_pipeline.errors import NOT_GREEN
from eval_pipeline.judge.agreement import calibration
from tests.models import messages_api as api

QUICK = Patience(attempts=1, time_limit_s=2.0)


def told(monkeypatch: pytest.MonkeyPatch, model: object, *, as_json: bool = False) -> tuple[int, str]:
    """The exit code and what was printed for this judge."""
    monkeypatch.setattr(command, "judge_model", lambda asked: model)
    monkeypatch.setattr(command, "calibration", lambda: calibration()[:2])
    out = Console(file=io.StringIO(), width=300)
    code = command.judge(None, out, as_json=as_json)
    return code, out.file.getvalue()  # type: ignore[attr-defined]


def test_no_judge_ends_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = told(monkeypatch, NoModel("no judge: set ANTHROPIC_API_KEY or EVAL_JUDGE_MODEL"))
    assert (code, "no judge: set ANTHROPIC_API_KEY" in text) == (NOT_GREEN, True)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_judge_that_answers_nothing_refused_no_control(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    with api.serving(api.status(401, "authentication_error")) as server:
        model = AnthropicModel("claude-sonnet-5-5", "sk", server.url, QUICK)
        code, text = told(monkeypatch, model, as_json=as_json)
    assert code == NOT_GREEN
    assert "refused, as it must be" not in text
    assert "answered none of the replies" in (json.loads(text)["control"] if as_json else text)
