"""What a person sees in the morning: a real browser opens the served UI after a night with a failure and an XPASS."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance

from eval_pipeline.definitions import defs
from eval_pipeline.registry import AGENTS
from eval_pipeline.rules.after_run import RUN_RULES
from eval_pipeline.settings import PROJECT, settings
from tests.deployment import browser

pytestmark = pytest.mark.xdist_group("ui")

FAILS, FIXED = "suspense-ninety-five-days", "suspense-sixty-one-days"
SERVED_WITHIN_S = 90
Page = Callable[[str], str]


@dataclass(frozen=True)
class Night:
    """The served address, and the run that was made before it was served."""

    url: str
    run_id: str


def planted(folder: Path) -> Path:
    """The datasets, with one expectation of the auditor's that is wrong and one recorded defect that is not there."""
    shutil.copytree(PROJECT / "datasets", folder)
    file = folder / "auditor" / "accounts.json"
    value: dict[str, Any] = json.loads(file.read_text("utf-8"))
    examples = {item["id"]: item for item in value["examples"]}
    assert examples[FAILS]["expected"]["findings"][0]["severity"] == "high"
    examples[FAILS]["expected"]["findings"][0]["severity"] = "low"
    examples[FIXED]["known_defects"] = [{"keys": ["n_findings_correct"], "reason": "planted"}]
    file.write_text(json.dumps(value), "utf-8")
    return folder


@pytest.fixture(scope="module")
def chromium() -> str:
    """The browser; asked for first, so that a machine without one skips before it has made anything."""
    return browser.program()


@pytest.fixture(scope="module")
def night(chromium: str, dagster: DagsterInstance, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Night]:
    """One example of each agent and two planted ones, run as the job ``nightly``; then the webserver over it."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EVAL_DATASETS", str(planted(tmp_path_factory.mktemp("planted") / "datasets")))
        settings.cache_clear()
        selected = [f"auditor/{FAILS}", f"auditor/{FIXED}", "clerk/limit-eur-99-99", "bookkeeper/voucher-three-lines"]
        asked = {"resources": {"request": {"config": {"select": [*selected, "typewriter/banking-001*"]}}}}
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        job = defs().resolve_job_def("nightly")
        made = job.execute_in_process(instance=dagster, run_config={**asked, **quiet}, raise_on_error=False)
        with served() as url:
            yield Night(url, made.run_id)
    settings.cache_clear()


@contextmanager
def served() -> Iterator[str]:
    """The webserver over the definitions and the databases of the environment; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "dagster_webserver", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", port]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        wait_until_served(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def wait_until_served(url: str, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + SERVED_WITHIN_S
    while True:
        assert process.poll() is None, process.communicate()
        try:
            with urllib.request.urlopen(f"{url}/server_info", timeout=5):
                return
        except OSError:
            assert time.monotonic() < deadline, f"the UI was not served within {SERVED_WITHIN_S} s"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def opened(night: Night, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Opens a page of the UI, each in a browser of its own, and once."""
    return cache(lambda path: browser.page(f"{night.url}{path}", tmp_path_factory.mktemp("profile")))


def test_the_page_of_the_board_tells_what_is_red_and_why_there_is_no_release(opened: Page, night: Night) -> None:
    html = opened("/assets/board")
    told = {row[0]: row[-1] for row in browser.rows(html) if len(row) == 3}
    assert told["state"] == "RED, partial; no GREEN board before"
    assert told["gate"] == "not released: the board is RED; the board is partial"
    assert told["n_red"] == "2"
    assert ["auditor", "RED", "2 of 340", "0.000", "1 FAIL, 1 XPASS"] in browser.rows(html)
    red = [row for row in browser.rows(html) if row[0] in ("XPASS", "FAIL")]
    assert [row[:2] for row in red] == [["XPASS", f"auditor/{FIXED}"], ["FAIL", f"auditor/{FAILS}"]]
    assert "n_findings_correct" in red[0][2]
    assert "severity" in red[1][2] or "suspense_ageing" in red[1][2]
    assert f"eval-pipeline trace AGENT/EXAMPLE --run {night.run_id}" in browser.text(html)


def test_the_page_of_the_board_leads_to_its_run_its_code_and_its_job(opened: Page, night: Night) -> None:
    html = opened("/assets/board")
    addresses = browser.links(html)
    assert any(address.endswith(f"/runs/{night.run_id}") for address in addresses)
    assert any(address.startswith("vscode://file/") and "/eval_pipeline/board.py" in address for address in addresses)
    assert any(address.endswith("/jobs/nightly") for address in addresses)


def test_the_checks_of_an_agent_stand_beside_what_they_mean_and_who_broke_them(opened: Page) -> None:
    html = opened("/assets/auditor/scores?view=checks&checkDetail=no_xpass")
    told = browser.text(html)
    (xpass,) = (rule for rule in RUN_RULES if rule.name == "no_xpass")
    assert xpass.why in told
    assert [rule.name for rule in RUN_RULES if rule.name not in told] == []
    assert any(row[0] == FIXED for row in browser.rows(html))
    assert "<canvas" in html  # the plot of how many offenders there were
    assert "Include numeric metadata entries" not in told


def test_the_lineage_goes_from_each_agents_dataset_to_the_gate_in_groups_by_agent(opened: Page) -> None:
    told = browser.text(opened("/assets/release_gate?view=lineage&lineageScope=upstream&lineageDepth=5")).split()
    _, _, boxes = " ".join(told).partition("Materialize all")
    drawn = Counter(boxes.split())
    assert [drawn[entry.name] for entry in AGENTS] == [1] * len(AGENTS)
    assert [drawn[part] for part in ("dataset", "outcomes", "scores")] == [len(AGENTS)] * 3
    assert (drawn["board"], drawn["release_gate"]) == (2, 1)  # the group and the asset are both called board
