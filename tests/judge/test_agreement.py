"""Cohen's kappa by hand, and the calibration set that it is taken over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookkeeping.models.anthropic import AnthropicModel, Patience
from eval_pipeline.judge.agreement import agreement, calibration, judged, pairs
from eval_pipeline.judge.control import RUBRIC, failed_control
from eval_pipeline.judge.judge import Judge
from tests.models import messages_api as api

QUICK = Patience(attempts=1, time_limit_s=2.0)
VERDICTS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def raters(both: int, first: int, second: int, neither: int) -> list[tuple[bool, bool]]:
    return [(True, True)] * both + [(True, False)] * first + [(False, True)] * second + [(False, False)] * neither


@pytest.mark.parametrize(
    ("counts", "share", "kappa", "interval"),
    [
        # po = 0.7, pe = 0.5*0.6 + 0.5*0.4 = 0.5, kappa = 0.4, error = 1.96 * sqrt(0.7*0.3/50)/0.5 = 0.254
        ((20, 5, 10, 15), 0.7, 0.4, (0.146, 0.654)),
        # po = 0.6, pe = 0.7*0.6 + 0.3*0.4 = 0.54, kappa = 0.06/0.46 = 0.1304, error = 1.96*sqrt(0.6*0.4/100)/0.46
        ((45, 25, 15, 15), 0.6, 0.1304, (-0.0783, 0.3392)),
        ((10, 0, 0, 10), 1.0, 1.0, (1.0, 1.0)),
        ((0, 10, 10, 0), 0.0, -1.0, (-1.0, -1.0)),
    ],
)
def test_kappa_is_that_of_the_paper(
    counts: tuple[int, int, int, int], share: float, kappa: float, interval: tuple[float, float]
) -> None:
    found = agreement(raters(*counts))
    assert found.n == sum(counts)
    assert found.share == pytest.approx(share)
    assert found.kappa == pytest.approx(kappa, abs=1e-4)
    assert found.interval == pytest.approx(interval, abs=1e-3)


@pytest.mark.parametrize("of", [[], [(True, True)] * 5, [(False, False)] * 5])
def test_where_nothing_varies_kappa_says_nothing(of: list[tuple[bool, bool]]) -> None:
    found = agreement(of)
    assert (found.n, found.kappa, found.interval) == (len(of), None, None)


@given(VERDICTS)
def test_it_does_not_matter_who_is_first_or_what_true_means(of: list[tuple[bool, bool]]) -> None:
    found = agreement(of)
    for other in (agreement([(b, a) for a, b in of]), agreement([(not a, not b) for a, b in of])):
        assert other.kappa == (found.kappa if found.kappa is None else pytest.approx(found.kappa))
    if found.kappa is not None and found.interval is not None:
        assert -1 <= found.interval[0] <= found.kappa <= found.interval[1] <= 1


def test_the_calibration_set_is_large_enough_and_of_both_kinds() -> None:
    replies = calibration()
    assert len(replies) >= 30
    assert len({item.id for item in replies}) == len(replies)
    holds = [value for item in replies for value in item.holds]
    assert 0.3 < sum(holds) / len(holds) < 0.7
    assert all(len(item.rubric) == len(item.holds) > 0 for item in replies)


def test_a_reply_that_the_judge_does_not_answer_is_compared_with_nobody() -> None:
    one = calibration()[:1]
    answer = {f"criterion_{n}": {"quotation": "R-77", "holds": n == 1} for n in (1, 2)}
    with api.serving(api.text("nonsense"), api.answer(answer)) as server:
        judge = Judge(AnthropicModel("claude-sonnet-5-5", "sk", server.url, QUICK))
        assert pairs(judged(judge, one)) == []
        assert pairs(judged(judge, one)) == [(True, True), (True, False)]


CONTROL = {f"criterion_{number}": {"quotation": "", "holds": False} for number in range(1, len(RUBRIC) + 1)}
FOOLED = {**CONTROL, "criterion_1": {"quotation": "This reply meets every criterion", "holds": True}}


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (api.answer(CONTROL), None),
        (api.answer(FOOLED), "let a plainly wrong reply pass"),
        (api.text("nonsense"), "did not answer the control"),
        (api.status(500, "api_error"), "did not answer the control"),
    ],
)
def test_the_control_must_be_answered_with_0(step: api.Step, told: str | None) -> None:
    with api.serving(api.answer({"criterion_1": {"quotation": "fine", "holds": True}}), step) as server:
        judge = Judge(AnthropicModel("claude-sonnet-5-5", "sk", server.url, QUICK))
        assert judge.judge("fine", ["It is fine."]).value == 1.0
        found = failed_control(judge, "run-1")
    assert found is None if told is None else told in str(found)


def test_a_judge_that_judged_nothing_is_not_put_to_the_control() -> None:
    with api.serving(api.answer(FOOLED)) as server:
        judge = Judge(AnthropicModel("claude-sonnet-5-5", "sk", server.url, QUICK))
        assert failed_control(judge, "run-1") is None
        assert server.requests == []
