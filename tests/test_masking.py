"""No secret and nothing personal is left anywhere in a value; everything else is as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.errors import ConfigError
from eval_pipeline.masking import MASKED, Masker, secrets_in, secrets_of
from eval_pipeline.settings import Settings, settings

SECRET = "hunter2-hunter2"
EMAIL = r"[\w.]+@[\w.]+"
MASKER = Masker([SECRET, "short"], [EMAIL])

texts = st.text(max_size=20) | st.sampled_from([SECRET, f"a {SECRET} b", "ada@example.org", MASKED, ""])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)


def n_leaves(value):
    if isinstance(value, dict):
        return sum(map(n_leaves, value.values()))
    return sum(map(n_leaves, value)) if isinstance(value, list) else 1


@given(values)
def test_nothing_is_left_and_nothing_is_lost(value):
    masked = MASKER.value(value)
    text = json.dumps(masked, ensure_ascii=False)
    assert SECRET not in text
    assert "ada@example.org" not in text
    assert n_leaves(masked) == n_leaves(value)
    assert MASKER.value(masked) == masked


@given(st.text(alphabet=st.characters(exclude_characters="@:-_«"), max_size=60))
def test_a_text_with_nothing_to_hide_is_unchanged(text):
    assert Masker([], []).text(text) == text or "earer" in text.lower()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-ant-api03-abcdefghijklmnop-12345 end", "key «masked» end"),
        ("lsv2_pt_0123456789abcdef_0123", "«masked»"),
        ("Authorization: Bearer abc.def-ghi_jkl", "Authorization: «masked»"),
        ("postgresql://eval:p%40ss@db:5432/x", "postgresql://«masked»@db:5432/x"),
        ("nothing to see: 12:30, a@b", "nothing to see: 12:30, a@b"),
        ("", ""),
    ],
)
def test_secrets_are_known_by_their_shape(text, masked):
    assert Masker([], []).text(text) == masked


def test_two_keys_that_look_alike_when_masked_are_both_kept():
    assert MASKER.value({"a@b.c": 1, "d@e.f": 2}) == {MASKED: 1, f"{MASKED} 2": 2}


def test_a_pattern_that_finds_its_own_mark_changes_nothing_more():
    greedy = Masker([], [r"\w+"])
    assert greedy.text("one two") == f"{MASKED} {MASKED}"
    assert greedy.text(greedy.text("one two")) == f"{MASKED} {MASKED}"


def test_the_secrets_are_those_of_the_settings_and_of_the_environment():
    chosen = Settings(database_url="postgresql://u:p@h/d", alert_urls=("json://one", "json://two"))
    assert set(secrets_of(chosen)) == {"postgresql://u:p@h/d", "json://one", "json://two"}
    assert secrets_in({"ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "PATH": "p", "KEYBOARD": "b"}) == ("k", "t")


def test_a_pattern_that_is_none_is_a_mistake_that_names_the_variable(monkeypatch):
    monkeypatch.setenv("EVAL_MASK", '["(unclosed"]')
    settings.cache_clear()
    with pytest.raises(ConfigError, match=r"^EVAL_MASK: '\(unclosed' is no regular expression"):
        settings()
    settings.cache_clear()
