"""``doctor`` says which model and which judge there would be, and why."""

import io

import pytest
from rich.console import Console

from eval_pipeline.commands.setup import doctor
from eval_pipeline.settings import settings


def told(monkeypatch: pytest.MonkeyPatch, **environment: str) -> dict[str, str]:
    """What it prints, by the first word of the line."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "EVAL_MODEL", "EVAL_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    out = io.StringIO()
    try:
        doctor(Console(file=out, width=200), as_json=False)
    finally:
        settings.cache_clear()
    return {line.split()[0]: " ".join(line.split()[1:]) for line in out.getvalue().splitlines() if line.strip()}


def test_without_a_key_there_is_neither_and_what_comes_of_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = told(monkeypatch)
    assert found["model"] == "none (set ANTHROPIC_API_KEY or EVAL_MODEL): examples that need one are skipped"
    assert found["judge"] == "none (set ANTHROPIC_API_KEY or EVAL_JUDGE_MODEL): replies score 0, unanswered"


def test_a_key_gives_the_default_model_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = told(monkeypatch, ANTHROPIC_API_KEY="sk-ant-secret", ANTHROPIC_BASE_URL="https://me:pw@proxy.example/v1")
    assert found["model"].startswith("claude-")
    assert "the default one, since ANTHROPIC_API_KEY is set" in found["model"]
    assert "it is asked at proxy.example" in found["model"]
    assert not any("secret" in value or "pw@" in value for value in found.values())


def test_a_choice_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    found = told(monkeypatch, EVAL_MODEL="local", EVAL_JUDGE_MODEL="claude-opus-5")
    assert found["model"] == "local/smollm2-135m, chosen by EVAL_MODEL"
    assert found["judge"] == (
        "none (no model claude-opus-5: set ANTHROPIC_API_KEY), although claude-opus-5 is chosen by EVAL_JUDGE_MODEL"
    )


def test_a_name_that_no_model_has_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, EVAL_MODEL="gpt")["model"].startswith("none: there is no model 'gpt'")
