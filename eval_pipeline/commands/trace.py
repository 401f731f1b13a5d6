"""``trace``: what an agent did on one example, from what is stored; readable without any other service."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from eval_pipeline.dataset import Example
from eval_pipeline.errors import OK, ConfigError
from eval_pipeline.masking import mask_secrets
from eval_pipeline.outcome import Outcome, Span
from eval_pipeline.packs import load_packs, packs_of
from eval_pipeline.results import outcomes, runs, scores
from eval_pipeline.results.database import Database
from eval_pipeline.results.runs import RunRow
from eval_pipeline.results.scores import Graded
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage
from eval_pipeline.suite import load_suite
from eval_pipeline.terminal import print_json, visible


def trace(name: str, run_id: str, out: Console, *, as_json: bool) -> int:
    """Prints the trace of AGENT/EXAMPLE in a run. Raises ConfigError when there is no such outcome."""
    agent, slash, example_id = name.partition("/")
    if not slash or not example_id:
        raise ConfigError(f"{name!r}: write AGENT/EXAMPLE")
    with storage(settings()) as where, Database(where.database_url) as database:
        run = runs.get(database, run_id)
        found = outcomes.read_one(database, run.run_id, agent, example_id)
        graded = next((row for row in scores.read(database, run.run_id, agent) if row.example_id == example_id), None)
    if not found:
        raise ConfigError(f"run {run.run_id} has no outcome of {name}")
    example = _example(run, agent, example_id)
    if as_json:
        print_json(out, mask_secrets(_as_json(run.run_id, found, graded)), default=str)
        return OK
    for outcome in found:
        _print(outcome, graded, example, out)
    return OK


def _example(run: RunRow, agent: str, example_id: str) -> Example | None:
    suite = load_suite(settings().datasets, [agent.partition("@")[0]])
    everything = (*suite, *load_packs(suite, packs_of(run.selection), settings().datasets))
    return next((item.dataset.by_id.get(example_id) for item in everything if item.name == agent), None)


def _as_json(run_id: str, found: Sequence[Outcome], graded: Graded | None) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "outcomes": [asdict(outcome) for outcome in found],
        "decision": asdict(graded.decision) if graded else None,
        "scores": [{"trial": trial, **asdict(score)} for trial, score in graded.scores] if graded else [],
    }


def _print(outcome: Outcome, graded: Graded | None, example: Example | None, out: Console) -> None:
    def line(text: str, style: str = "") -> None:
        out.print(visible(mask_secrets(text)), style=style, markup=False, soft_wrap=True)

    trial = f" trial {outcome.trial}" if outcome.trial else ""
    line(f"{outcome.agent}/{outcome.example_id}{trial}  {outcome.status}  {outcome.seconds * 1000:.0f} ms", "bold")
    if outcome.usage.model_calls:
        line(_model(outcome))
    if example is not None:
        line("inputs   " + _short(example.inputs))
        line("expected " + _short(example.expected))
    for span in outcome.spans:
        _print_span(span, line)
    if outcome.outputs is not None:
        line("outputs", "bold")
        for key, value in outcome.outputs.items():
            line(f"  {key}: {_short(value)}")
    if outcome.skip_reason is not None:
        line(f"skipped: {outcome.skip_reason}", "yellow")
    if outcome.failure is not None:
        line(f"{outcome.failure.kind}: {outcome.failure.message}", "red")
        line(outcome.failure.detail or "")
    if graded is not None:
        line("scores", "bold")
        for number, score in graded.scores:
            if number == outcome.trial:
                line(f"  {score.key} {score.value:.4g}  {score.comment or ''}".rstrip())
        line(f"verdict {graded.decision.verdict}  {graded.decision.reason}".rstrip(), "bold")


def _model(outcome: Outcome) -> str:
    used = outcome.usage
    name = outcome.model.name if outcome.model else ""
    tokens = f"{used.input_tokens} tokens in, {used.output_tokens} out"
    return f"model    {name}  {used.model_calls} calls, {tokens}, {used.cost_usd.normalize():f} USD"


def _print_span(span: Span, line: Any) -> None:
    line(f"  {span.start * 1000:7.1f} ms  {span.kind} {span.name}  ({span.seconds * 1000:.1f} ms)")
    for mark, values in (("<", span.input), (">", span.output)):
        told = values if isinstance(values, Mapping) else {} if values is None else {"value": values}
        for key, value in told.items():
            line(f"           {mark} {key}: {_short(value)}")
    if span.error:
        line(f"             raised {span.error}", "red")


def _short(value: Any, width: int = 400) -> str:
    text = json.dumps(mask_secrets(value), ensure_ascii=False, default=str)
    return text if len(text) <= width else f"{text[:width]} ... ({len(text)} characters; --json has all)"
