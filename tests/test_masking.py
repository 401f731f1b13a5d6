"""No secret and nothing personal is left anywhere in a value; everything else is as it was."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.errors import ConfigError
from eval_pipeline.masking import MASKED, Masker, passwords_in, secrets_in, secrets_of
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


keys = st.from_regex(r"sk-ant-api03-[A-Za-z0-9_-]{20,60}", fullmatch=True) | st.from_regex(
    r"lsv2_(pt|sk)_[a-f0-9]{20,40}_[a-f0-9]{10}", fullmatch=True
)


@given(st.text(max_size=20), keys, st.text(max_size=20))
def test_a_key_of_a_provider_is_found_in_any_text(before, key, after):
    assert key not in Masker([], []).text(f"{before}{key}{after}")


@given(st.text(max_size=30), st.text(min_size=8, max_size=12), st.text(max_size=30))
def test_a_known_secret_of_any_characters_is_found_in_any_text(before, secret, after):
    masker = Masker([secret], [])
    masked = masker.text(before + secret + after)
    assert MASKED in masked
    assert all(secret not in part for part in masked.split(MASKED))
    assert masker.text(masked) == masked


@given(values)
def test_a_value_without_a_secret_is_the_very_same(value):
    text = json.dumps(value, ensure_ascii=False)
    if SECRET not in text and not re.search(EMAIL, text):
        assert MASKER.value(value) == value


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
        ("redis://:p@ss:w0rd@cache:6379/1", "redis://«masked»@cache:6379/1"),
        ('{"at":"http://host:80","by":"a@b.c"}', '{"at":"http://host:80","by":"a@b.c"}'),
        ("http://host:80?mail=a@b.c", "http://host:80?mail=a@b.c"),
        ("a risk-assessment-of-2026-and-after", "a risk-assessment-of-2026-and-after"),
        ("sk-learn-and-other-libraries", "sk-learn-and-other-libraries"),
        ("keysk-ant-api03-abcdefghijklmnop", "key«masked»"),
        ("pay the bearer immediately", "pay the bearer immediately"),
        ("BEARER eyJhbGciOiJ9", "«masked»"),
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


def test_what_is_personal_is_found_around_a_secret():
    """A pattern sees the text as it is: what another one found in the middle does not hide the rest."""
    masker = Masker([SECRET], [r"Patient: .*"])
    assert masker.text(f"17 Patient: Ada {SECRET} Lovelace") == f"17 {MASKED}"


def test_a_pattern_with_an_anchor_finds_nothing_more_the_second_time():
    masker = Masker([], ["^."])
    assert masker.text("ab") == masker.text(masker.text("ab")) == f"{MASKED}b"


@pytest.mark.parametrize(
    ("address", "passwords"),
    [
        ("postgresql://eval:p%40ssw0rd@db/x", ("p%40ssw0rd", "p@ssw0rd")),
        ("redis://:s3cr3t@cache", ("s3cr3t",)),
        ("postgresql://postgres:postgres@db/x", ()),
        ("postgresql://db/x", ()),
        ("http://[", ()),
        ("no address", ()),
    ],
)
def test_a_password_is_known_beyond_its_address(address, passwords):
    assert passwords_in(address) == passwords


def test_the_secrets_are_those_of_the_settings_and_of_the_environment():
    chosen = Settings(database_url="postgresql://u:p1@h/d", alert_urls=("json://one", "json://two"))
    assert set(secrets_of(chosen)) == {"postgresql://u:p1@h/d", "p1", "json://one", "json://two"}
    assert secrets_in({"ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "PATH": "p", "KEYBOARD": "b"}) == ("k", "t")
    assert secrets_in({"OTEL_EXPORTER_OTLP_HEADERS": "api-key=one%3D1, x=2"}) == ("one%3D1", "one=1", "2")
    assert secrets_in({"HTTPS_PROXY": "http://me:pr0xy-w0rd@proxy:80"}) == ("pr0xy-w0rd",)


def test_a_pattern_that_is_none_is_a_mistake_that_names_the_variable(monkeypatch):
    monkeypatch.setenv("EVAL_MASK", '["(unclosed"]')
    settings.cache_clear()
    with pytest.raises(ConfigError, match=r"^EVAL_MASK: '\(unclosed' is no regular expression"):
        settings()
    settings.cache_clear()
