"""Runs inside a copy of the project: a night, then one change after another, and what Dagster calls stale after each.

    python -m changing CHANGES     one JSON value on stdout: by the name of the change, the assets that are stale

CHANGES is JSON: by name, a list of [path, old, new]. Every change is undone before the next. Definitions are made anew
each time, as a reload of the code location does.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from dagster import DagsterInstance
from dagster._core.definitions.data_version import StaleStatus
from dagster._utils.test.data_versions import get_stale_status_resolver

from eval_pipeline.deployment import materialize
from eval_pipeline.deployment.assets import agent_assets
from eval_pipeline.deployment.board import board, release_gate
from eval_pipeline.deployment.request import RunRequest
from eval_pipeline.registry import AGENTS
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage


def assets() -> list[dg.AssetsDefinition]:
    """The assets as the code and the files of now have them."""
    settings.cache_clear()
    return [*(asset for entry in AGENTS for asset in agent_assets(entry)), board, release_gate]


def stale(instance: DagsterInstance) -> list[str]:
    """The assets that Dagster shows as stale now, the missing ones too."""
    now = assets()
    resolver = get_stale_status_resolver(instance, now)
    keys = sorted(key for asset in now for key in asset.keys)
    return [key.to_user_string() for key in keys if resolver.get_status(key) is not StaleStatus.FRESH]


def made(instance: DagsterInstance, *wanted: str) -> None:
    """Materializes these assets, all when none is named."""
    chosen = dg.AssetSelection.assets(*(name.split("/") for name in wanted)) if wanted else None
    resources = {"request": RunRequest()}
    assert dg.materialize(assets(), instance=instance, resources=resources, selection=chosen).success


@contextmanager
def changed(edits: Sequence[tuple[str, str, str]]) -> Iterator[None]:
    """While this lasts the files are other ones. ``old`` must be there exactly once."""
    before = {path: Path(path).read_text("utf-8") for path, _, _ in edits}
    for path, old, new in edits:
        text = Path(path).read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {path}"
        Path(path).write_text(text.replace(old, new), "utf-8")
    try:
        yield
    finally:
        for path, text in before.items():
            Path(path).write_text(text, "utf-8")


@contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    """While this lasts an environment variable has a value."""
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def main(changes: dict[str, list[tuple[str, str, str]]]) -> dict[str, list[str]]:
    """What is stale after each change, and then step by step after an edited example and after another answer."""
    found = {}
    with storage(settings()), materialize.instance() as instance:
        made(instance)
        found["nothing"] = stale(instance)
        for name, edits in changes.items():
            with changed(edits):
                found[name] = stale(instance)
        with variable("EVAL_MODEL", "local"):
            found["another model"] = stale(instance)
        made(instance, "adder/outcomes")
        found["the same answers again"] = stale(instance)
        with variable("DRIFT", "1"):
            made(instance, "adder/outcomes")
        found["other answers"] = stale(instance)
        made(instance)
        with changed(changes["an example"]):
            made(instance, "adder/dataset")
            found["an example, materialized"] = stale(instance)
    return found


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
