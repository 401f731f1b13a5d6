"""``sync``: the copies at LangSmith are made equal to the repo, or compared with it."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.console import Console

from eval_pipeline.commit import commit_of
from eval_pipeline.dataset import load_dataset
from eval_pipeline.errors import NOT_GREEN, OK
from eval_pipeline.langsmith_copy import compare, dataset_name
from eval_pipeline.langsmith_copy import sync as sync_copy
from eval_pipeline.langsmith_service import NoService, connect
from eval_pipeline.registry import AGENTS
from eval_pipeline.settings import settings
from eval_pipeline.suite import known_agent
from eval_pipeline.terminal import print_json, visible


def sync(agents: Iterable[str], out: Console, *, is_check: bool, strict: bool, as_json: bool) -> int:
    """Syncs the copies of these agents' datasets, or of all; with ``is_check`` nothing is changed.

    0 when they equal the repo; 1 when one differs (``is_check``), or under ``strict`` when there is no LangSmith.

    Raises ConfigError for an agent that is not registered, DatasetError, and ServiceError.
    """
    names = [known_agent(name).name for name in agents] or [entry.name for entry in AGENTS]
    datasets = [load_dataset(settings().datasets / name) for name in names]
    client = connect()
    if isinstance(client, NoService):
        return skipped("sync", client, out, strict=strict, as_json=as_json)
    if is_check:
        told = {dataset_name(item.agent): compare(client, item).sentences for item in datasets}
        lines = [f"{name}: {'; '.join(sentences) or 'equal'}" for name, sentences in told.items()]
        tell(out, {"differences": told}, lines, as_json=as_json)
        return NOT_GREEN if any(told.values()) else OK
    done = [sync_copy(client, item, commit_of(item.folder, settings().commit)) for item in datasets]
    lines = [
        f"{item.dataset}: {item.n_examples} examples; {item.n_added} added, {item.n_changed} changed, "
        f"{item.n_deleted} deleted; {', '.join(item.tags)}"
        for item in done
    ]
    tell(out, {"synced": [asdict(item) for item in done]}, lines, as_json=as_json)
    return OK


def skipped(command: str, reason: NoService, out: Console, *, strict: bool, as_json: bool) -> int:
    """Says that there is no LangSmith; 1 under ``strict``."""
    tell(out, {"skipped": reason.reason}, [f"[SKIP] {command}  {reason.reason}"], as_json=as_json)
    return NOT_GREEN if strict else OK


def tell(out: Console, value: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Prints the value as JSON, or the lines."""
    if as_json:
        print_json(out, value)
        return
    for line in lines:
        out.print(visible(line), markup=False, soft_wrap=True)
