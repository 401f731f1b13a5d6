"""The table of verdicts, line by line, and what holds of it for all scores and markers."""

import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.dataset import KnownDefect
from eval_pipeline.verdict import Decision, Excused, Score, Trial, Verdict, decide, excuses
from tests.build import marker, trial

KEYS = ("a", "b", "c")
SEVERITY = [Verdict.PASS, Verdict.XFAIL, Verdict.FAIL, Verdict.ERROR]
"""What one trial can be, from the best to the worst; XPASS is a matter of all trials."""

situations = st.none() | st.dictionaries(st.sampled_from(["n", "kind"]), st.sampled_from([0, False, "0"]), min_size=1)


@st.composite
def markers(draw: st.DrawFn) -> KnownDefect:
    situation = draw(situations)
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, unique=True))
    return marker(*keys, only_when=situation, intermittent=situation is not None and draw(st.booleans()))


values = st.sampled_from([0.0, 0.5, 0.9999999, 1.0])
outputs = st.fixed_dictionaries({}, optional={"n": st.sampled_from([0, False, "0", 0.0]), "kind": st.just("0")})
scored = st.fixed_dictionaries(dict.fromkeys(KEYS, values))
trials = st.builds(lambda values, outputs: trial(outputs, **values), scored, outputs)
many_trials = st.lists(trials, min_size=1, max_size=4)
marker_lists = st.lists(markers(), max_size=3)


def verdict(*of: Trial, markers: Sequence[KnownDefect] = ()) -> Verdict:
    return decide(of, markers).verdict


# The table


def test_every_score_at_1_is_a_pass() -> None:
    assert decide([trial(a=1.0, b=1.0)]) == Decision(Verdict.PASS, n_trials=1, n_passed=1)


@pytest.mark.parametrize("value", [0.0, 0.5, 0.9999999999999999])
def test_a_score_below_1_that_no_marker_excuses_fails(value: float) -> None:
    decision = decide([trial(a=value, b=1.0)])
    assert (decision.verdict, decision.failed, decision.n_passed) == (Verdict.FAIL, ("a",), 0)


def test_a_failure_tells_value_and_comment_of_each_key() -> None:
    decision = decide([Trial((Score("a", 0.5, "half"), Score("b", 1.0), Score("c", 0.0)), {})])
    assert decision.reason == "a 0.5 (half); c 0"


def test_an_error_is_an_error_with_its_words() -> None:
    decision = decide([trial(error="raised: ValueError: boom", a=1.0)])
    assert (decision.verdict, decision.reason) == (Verdict.ERROR, "raised: ValueError: boom")


def test_an_example_that_nobody_scored_is_an_error() -> None:
    decision = decide([trial()])
    assert (decision.verdict, decision.reason) == (Verdict.ERROR, "ungraded: no evaluator scored this example")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.5, -0.5])
def test_an_invalid_score_is_an_error_even_where_a_marker_names_it(value: float) -> None:
    assert verdict(trial(a=value)) is Verdict.ERROR
    assert verdict(trial(a=value), markers=[marker("a")]) is Verdict.ERROR


def test_a_marker_that_names_what_nothing_scored_here_is_an_error() -> None:
    decision = decide([trial(a=1.0)], [marker("a", "b")])
    assert decision.verdict is Verdict.ERROR
    assert decision.reason == "a known defect names what nothing scored here: b"


def test_a_deterministic_marker_whose_key_passes_is_an_xpass() -> None:
    decision = decide([trial(a=1.0, b=1.0)], [marker("a")])
    assert (decision.verdict, decision.xpass) == (Verdict.XPASS, ("a",))
    assert decision.reason == "the defect that this baseline recorded appears fixed: a"


def test_only_when_plays_no_part_in_an_xpass() -> None:
    assert verdict(trial({"n": 1}, a=1.0), markers=[marker("a", only_when={"n": 0})]) is Verdict.XPASS


def test_a_fixed_key_beside_an_excused_one_is_an_xpass() -> None:
    decision = decide([trial(a=1.0, b=0.0)], [marker("a", "b")])
    assert (decision.verdict, decision.xpass, decision.excused) == (
        Verdict.XPASS,
        ("a",),
        (Excused("b", "a known weakness"),),
    )


def test_a_failure_beside_an_xpass_is_a_failure_that_still_tells_of_the_xpass() -> None:
    decision = decide([trial(a=1.0, b=0.0)], [marker("a")])
    assert (decision.verdict, decision.failed, decision.xpass) == (Verdict.FAIL, ("b",), ("a",))
    assert decision.reason == "b 0; the defect that this baseline recorded appears fixed: a"


def test_every_score_below_1_excused_is_an_xfail_with_the_reasons_of_the_markers() -> None:
    decision = decide([trial(a=0.0, b=0.5, c=1.0)], [marker("a", reason="first"), marker("b", reason="second")])
    assert (decision.verdict, decision.reason) == (Verdict.XFAIL, "first; second")
    assert decision.excused == (Excused("a", "first"), Excused("b", "second"))
    assert decision.n_passed == 0


def test_one_excused_and_one_not_fails() -> None:
    assert verdict(trial(a=0.0, b=0.0), markers=[marker("a")]) is Verdict.FAIL


@pytest.mark.parametrize("colour", [(Verdict.FAIL, True), (Verdict.ERROR, True), (Verdict.XPASS, True)])
@pytest.mark.parametrize("other", [(Verdict.PASS, False), (Verdict.XFAIL, False), (Verdict.SKIP, False)])
def test_fail_error_and_xpass_are_red_and_no_others(colour: tuple[Verdict, bool], other: tuple[Verdict, bool]) -> None:
    for one, is_red in (colour, other):
        assert one.is_red is is_red


def test_an_example_that_did_not_run_has_no_verdict_here() -> None:
    with pytest.raises(ValueError, match="without a trial"):
        decide([])


# only_when


@pytest.mark.parametrize(("wanted", "output"), list(product([0, False, "0", 0.0, None, [], [0]], repeat=2)))
def test_only_when_compares_value_and_type(wanted: Any, output: Any) -> None:
    alike = type(wanted) is type(output) and wanted == output
    expected = Verdict.XFAIL if alike else Verdict.FAIL
    assert verdict(trial({"n": output}, a=0.0), markers=[marker("a", only_when={"n": wanted})]) is expected


def test_every_entry_of_only_when_must_hold() -> None:
    both = marker("a", only_when={"n": 0, "kind": "x"})
    assert excuses(both, "a", {"n": 0, "kind": "x", "more": 1})
    assert not excuses(both, "a", {"n": 0, "kind": "y"})
    assert not excuses(both, "a", {"n": 0})
    assert not excuses(both, "b", {"n": 0, "kind": "x"})


def test_only_when_null_does_not_hold_where_the_output_is_absent() -> None:
    assert not excuses(marker("a", only_when={"n": None}), "a", {})


def test_without_outputs_no_situation_holds() -> None:
    bare = Trial((Score("a", 0.0),), None)
    assert verdict(bare, markers=[marker("a", only_when={"n": 0})]) is Verdict.FAIL


def test_two_markers_on_one_key_excuse_in_either_situation() -> None:
    two = [marker("a", only_when={"n": 0}, reason="none"), marker("a", only_when={"n": 2}, reason="two")]
    for n, expected in ((0, "none"), (2, "two")):
        assert decide([trial({"n": n}, a=0.0)], two).excused == (Excused("a", expected),)
    assert verdict(trial({"n": 1}, a=0.0), markers=two) is Verdict.FAIL


# intermittent


def test_an_intermittent_marker_whose_key_passes_is_a_pass() -> None:
    """H39: the unexpected pass of a flaky marker is not red."""
    flaky = marker("a", only_when={"n": 0}, intermittent=True)
    for n in (0, 1):
        assert verdict(trial({"n": n}, a=1.0), markers=[flaky]) is Verdict.PASS


def test_an_intermittent_marker_excuses_in_its_situation_only() -> None:
    flaky = marker("a", only_when={"n": 0}, intermittent=True)
    assert verdict(trial({"n": 0}, a=0.0), markers=[flaky]) is Verdict.XFAIL
    assert verdict(trial({"n": 1}, a=0.0), markers=[flaky]) is Verdict.FAIL


# Judges that were not there


def test_an_unanswered_judge_is_a_failure_that_no_marker_excuses_and_is_counted_apart() -> None:
    alone = Trial((Score("a", 0.0, unanswered=True), Score("b", 1.0)), {})
    for given_markers in ((), (marker("a"),)):
        decision = decide([alone], given_markers)
        assert (decision.verdict, decision.failed, decision.unanswered) == (Verdict.FAIL, ("a",), ("a",))


def test_an_unanswered_judge_in_one_trial_is_told_of_all() -> None:
    answered, unanswered = trial(a=0.0), Trial((Score("a", 0.0, unanswered=True),), {})
    assert decide([answered, unanswered]).unanswered == ("a",)


# Trials

PASSES, FAILS, EXCUSED, ERRS = trial(a=1.0), trial(b=1.0, a=0.0), trial({"n": 0}, a=0.0), trial(error="boom")


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ([PASSES, EXCUSED], Verdict.XFAIL),
        ([PASSES, EXCUSED, FAILS], Verdict.FAIL),
        ([PASSES, FAILS, ERRS, EXCUSED], Verdict.ERROR),
        ([PASSES, PASSES], Verdict.PASS),
    ],
)
def test_the_worst_trial_is_the_verdict(of: list[Trial], expected: Verdict) -> None:
    flaky = marker("a", only_when={"n": 0}, intermittent=True)
    assert verdict(*of, markers=[flaky]) is expected
    assert verdict(*reversed(of), markers=[flaky]) is expected


def test_an_xpass_needs_the_key_to_pass_in_every_trial() -> None:
    one = [marker("a")]
    assert verdict(trial(a=1.0), trial(a=1.0), markers=one) is Verdict.XPASS
    assert verdict(trial(a=1.0), trial(a=0.0), markers=one) is Verdict.XFAIL


def test_a_deterministic_marker_that_passed_in_some_trials_is_told_to_be_intermittent() -> None:
    decision = decide([trial(a=1.0), trial(a=0.0)], [marker("a")])
    assert decision.hints == ("a passed in some trials: its known defect is intermittent",)
    assert decision.xpass == ()


def test_no_hint_where_the_marker_holds_in_all_trials_or_is_intermittent_already() -> None:
    assert decide([trial(a=0.0), trial(a=0.0)], [marker("a")]).hints == ()
    flaky = marker("a", only_when={"n": 0}, intermittent=True)
    assert decide([trial({"n": 0}, a=1.0), trial({"n": 0}, a=0.0)], [flaky]).hints == ()


def test_how_many_trials_passed_is_counted() -> None:
    decision = decide([PASSES, PASSES, trial(a=0.0)])
    assert (decision.n_passed, decision.n_trials) == (2, 3)


# What holds of everything


@given(many_trials, marker_lists)
def test_a_pass_means_that_every_score_of_every_trial_is_1(of: list[Trial], given_markers: list[KnownDefect]) -> None:
    perfect = all(score.value == 1.0 for one in of for score in one.scores)
    assert (verdict(*of, markers=given_markers) in (Verdict.PASS, Verdict.XPASS)) >= perfect
    if verdict(*of, markers=given_markers) is Verdict.PASS:
        assert perfect


@given(many_trials)
def test_without_markers_an_example_passes_or_fails(of: list[Trial]) -> None:
    perfect = all(score.value == 1.0 for one in of for score in one.scores)
    assert verdict(*of) is (Verdict.PASS if perfect else Verdict.FAIL)


@given(many_trials, marker_lists, st.text(min_size=1), st.data())
def test_an_error_is_never_excused(
    of: list[Trial], given_markers: list[KnownDefect], error: str, data: st.DataObject
) -> None:
    """H37, H54: an error beside a marker is an ERROR, whatever the scores say."""
    place = data.draw(st.integers(0, len(of) - 1))
    of[place] = Trial(of[place].scores, of[place].outputs, error)
    assert verdict(*of, markers=given_markers) is Verdict.ERROR


@given(many_trials, marker_lists, markers())
def test_one_more_marker_never_makes_a_pass_of_what_was_none(
    of: list[Trial], given_markers: list[KnownDefect], added: KnownDefect
) -> None:
    before, after = decide(of, given_markers), decide(of, [*given_markers, added])
    if after.verdict is Verdict.PASS:
        assert before.verdict is Verdict.PASS
    assert after.n_passed == before.n_passed


@given(many_trials, marker_lists, markers())
def test_what_passes_without_a_marker_is_never_failed_or_excused_by_it(
    of: list[Trial], given_markers: list[KnownDefect], added: KnownDefect
) -> None:
    if decide(of, given_markers).verdict is Verdict.PASS:
        after = decide(of, [*given_markers, added])
        assert after.verdict is (Verdict.PASS if added.intermittent else Verdict.XPASS)
        assert after.excused == ()


@given(many_trials, marker_lists)
def test_intermittent_markers_alone_never_make_an_xpass(of: list[Trial], given_markers: list[KnownDefect]) -> None:
    flaky = [item for item in given_markers if item.intermittent]
    decision = decide(of, flaky)
    assert decision.xpass == ()
    assert decision.verdict is not Verdict.XPASS


@given(many_trials, marker_lists)
def test_an_xpass_is_told_exactly_when_a_recorded_key_passed_everywhere(
    of: list[Trial], given_markers: list[KnownDefect]
) -> None:
    recorded = {key for item in given_markers if not item.intermittent for key in item.keys}
    fixed = {key for key in recorded if all(s.value == 1.0 for one in of for s in one.scores if s.key == key)}
    decision = decide(of, given_markers)
    assert set(decision.xpass) == fixed
    assert (decision.verdict is Verdict.XPASS) == (bool(fixed) and not decision.failed)


@given(many_trials, marker_lists)
def test_the_order_of_trials_and_markers_plays_no_part(of: list[Trial], given_markers: list[KnownDefect]) -> None:
    there = verdict(*of, markers=given_markers)
    assert verdict(*reversed(of), markers=given_markers) is there
    assert verdict(*of, markers=given_markers[::-1]) is there


@given(many_trials, marker_lists)
def test_the_verdict_is_that_of_the_worst_trial_unless_it_is_an_xpass(
    of: list[Trial], given_markers: list[KnownDefect]
) -> None:
    flaky = [item for item in given_markers if item.intermittent]
    singles = [verdict(one, markers=flaky) for one in of]
    assert verdict(*of, markers=flaky) is max(singles, key=SEVERITY.index)


@given(trials, marker_lists)
def test_every_key_below_1_is_either_failed_or_excused(one: Trial, given_markers: list[KnownDefect]) -> None:
    decision = decide([one], given_markers)
    below = {score.key for score in one.scores if score.value < 1.0}
    excused = {item.key for item in decision.excused}
    assert set(decision.failed) | excused == below
    assert not set(decision.failed) & excused


# Compared with pytest's own xfail(strict=True)

PYTEST_CASES = """
import json
import pathlib
import pytest

def marked(index, value, marked, error):
    return pytest.param(value, error, marks=[pytest.mark.xfail(strict=True)] if marked else [], id=str(index))

CASES = json.loads(pathlib.Path("cases.json").read_text())

@pytest.mark.parametrize(("value", "error"), [marked(index, *case) for index, case in enumerate(CASES)])
def test_key(value, error):
    if error:
        raise RuntimeError("infrastructure")
    assert value == 1.0
"""

PYTEST_WORDS = """
import json
import pathlib

found = []

def pytest_runtest_logreport(report):
    if report.when == "call":
        strict = "[XPASS(strict)]" in str(report.longrepr)
        word = "xfailed" if report.outcome == "skipped" else "xpassed" if strict else report.outcome
        found.append(word)

def pytest_sessionfinish():
    pathlib.Path("words.json").write_text(json.dumps(found))
"""

OURS = {"passed": Verdict.PASS, "xfailed": Verdict.XFAIL, "xpassed": Verdict.XPASS, "failed": Verdict.FAIL}


def pytest_verdicts(folder: Path, cases: Sequence[tuple[float, bool, bool]]) -> list[Verdict]:
    """What pytest says of each test (value, marked, raises something else), in our words."""
    (folder / "test_cases.py").write_text(PYTEST_CASES, "utf-8")
    (folder / "conftest.py").write_text(PYTEST_WORDS, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (folder / "cases.json").write_text(json.dumps(cases), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "-rN"]
    subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
    return [OURS[word] for word in json.loads((folder / "words.json").read_text("utf-8"))]


def test_markers_without_only_when_agree_with_strict_xfail_of_pytest(tmp_path: Path) -> None:
    """All examples of up to three keys, each key a test of pytest's, each marked or not.

    An example is red as its worst key is, and tells FAIL before XPASS before XFAIL. The one difference that is meant:
    an error beside a marker is XFAIL for pytest and ERROR for us (H37, H54).
    """
    keys = list(product((0.0, 0.5, 1.0), (False, True)))
    examples = [(case, False) for n in (1, 2, 3) for case in product(keys, repeat=n)]
    examples += [(case, True) for n in (1, 2) for case in product(keys, repeat=n)]
    flat = [(value, marked, error) for case, error in examples for value, marked in case]
    theirs = iter(pytest_verdicts(tmp_path, flat))
    seen = set()
    for case, error in examples:
        by_key = [next(theirs) for _ in case]
        given_markers = [marker(KEYS[i]) for i, (_, marked) in enumerate(case) if marked]
        scores = {KEYS[i]: value for i, (value, _) in enumerate(case)}
        ours = verdict(trial(error="infrastructure" if error else None, **scores), markers=given_markers)
        seen.add(ours)
        if error:
            assert ours is Verdict.ERROR
            assert by_key == [Verdict.XFAIL if marked else Verdict.FAIL for _, marked in case]
        else:
            assert ours is max(by_key, key=[Verdict.PASS, Verdict.XFAIL, Verdict.XPASS, Verdict.FAIL].index), case
    assert next(theirs, None) is None
    assert seen == set(Verdict) - {Verdict.SKIP}
