"""``judge``: how far the judge agrees with people, over the calibration set."""

from dataclasses import asdict

from rich.console import Console

from bookkeeping.models import NoModel
from eval_pipeline.errors import NOT_GREEN, OK
from eval_pipeline.grading import judge_model
from eval_pipeline.judge.agreement import Calibrated, agreement, calibration, judged, pairs
from eval_pipeline.judge.control import failed_control
from eval_pipeline.judge.judge import Judge
from eval_pipeline.judge.verdicts import Judgement
from eval_pipeline.terminal import print_json, visible


def judge(model: str | None, out: Console, *, as_json: bool) -> int:
    """Asks the judge about every reply of the calibration set.

    1 when there is no judge, it answered none of the replies, or it failed the control.

    Nothing is remembered: a calibration is asked anew each time. Raises ConfigError for a name that no model has.
    """
    found = judge_model(model)
    if isinstance(found, NoModel):
        out.print(f"not calibrated: {found.reason}", markup=False, soft_wrap=True)
        return NOT_GREEN
    asked = Judge(found)
    answers = list(judged(asked, calibration()))
    result = agreement(pairs(answers))
    control = _control(asked)
    if as_json:
        print_json(
            out, {"model": found.name, **asdict(result), "control": control, "replies": list(map(_row, answers))}
        )
    else:
        _print(out, found.name, answers, control)
        kappa = "-" if result.kappa is None or result.interval is None else _kappa(result.kappa, *result.interval)
        out.print(f"{result.n} criteria, the same verdict on {result.share:.1%}; Cohen's kappa {kappa}")
    return NOT_GREEN if control is not None else OK


def _control(asked: Judge) -> str | None:
    if asked.n_judged == 0:
        return f"the judge {asked.name} answered none of the replies, so nobody knows what it lets pass"
    return failed_control(asked, "calibration")


def _kappa(kappa: float, low: float, high: float) -> str:
    return f"{kappa:.2f} (95 %: {low:.2f} to {high:.2f})"


def _row(of: tuple[Calibrated, Judgement]) -> dict[str, object]:
    item, judgement = of
    said = [verdict.holds for verdict in judgement.verdicts]
    return {"id": item.id, "person": item.holds, "judge": said, "reason": judgement.reason}


def _print(out: Console, name: str, answers: list[tuple[Calibrated, Judgement]], control: str | None) -> None:
    out.print(f"judge: {name}", markup=False)
    for item, judgement in answers:
        if not judgement.is_answered:
            out.print(f"{item.id}: no answer: {visible(judgement.reason or '')}", markup=False, soft_wrap=True)
        for person, verdict in zip(item.holds, judgement.verdicts, strict=False):
            if person != verdict.holds:
                told = f"{item.id}: {'holds' if person else 'does not hold'}, says a person, and the judge the contrary"
                out.print(f"{told}: {verdict.criterion}", markup=False, soft_wrap=True)
    n_answered = sum(judgement.is_answered for _, judgement in answers)
    out.print(f"{n_answered} of {len(answers)} replies were answered")
    out.print(f"control: {visible(control) if control else 'refused, as it must be'}", markup=False, soft_wrap=True)
