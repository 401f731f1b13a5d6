"""``check``: every static rule, no model and no database."""

from rich.console import Console

from eval_pipeline.errors import NOT_GREEN, OK
from eval_pipeline.rules import Offence
from eval_pipeline.rules.static import offences, unregistered
from eval_pipeline.settings import settings
from eval_pipeline.suite import load_suite
from eval_pipeline.terminal import print_json


def check(console: Console, *, as_json: bool) -> int:
    """Prints every offender; 0 when there is none, 1 otherwise. Raises DatasetError for what cannot be read."""
    suite = load_suite(settings().datasets)
    found = [*unregistered(), *(offence for item in suite for offence in offences(item))]
    if as_json:
        print_json(console, {"ok": not found, "offences": [offence_as_json(item) for item in found]})
        return NOT_GREEN if found else OK
    for offence in found:
        console.print(f"{offence.rule}: {offence}", markup=False, highlight=False, soft_wrap=True)
    for item in suite:
        if item.not_installed is not None:
            console.print(f"[SKIP] {item.name}  {item.not_installed}", markup=False, highlight=False, soft_wrap=True)
    n_examples = sum(len(item.dataset.examples) for item in suite)
    told = f"{len(found)} broken" if found else "all rules hold"
    console.print(f"{told}: {len(suite)} agents, {n_examples} examples", markup=False, highlight=False)
    return NOT_GREEN if found else OK


def offence_as_json(offence: Offence) -> dict[str, str | None]:
    """An offence as a JSON value."""
    return {
        "rule": offence.rule,
        "agent": offence.agent,
        "message": offence.message,
        "file": str(offence.file) if offence.file else None,
        "example": offence.example,
        "key": offence.key,
    }
