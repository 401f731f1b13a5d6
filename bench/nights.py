"""Nights: a served deployment whose daemon, webserver, worker and Postgres are killed in turn during a night.

Asked of every seed, which chooses the order and the moments: what was finished before a kill is kept and is not run
again, the night comes to its end or is resumed, its board is that of an undisturbed run, and the fixed defect that was
planted in the datasets arrives once.
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from bench.loopback import listening
from eval_pipeline.errors import ResultsUnavailable
from eval_pipeline.results import boards, outcomes, runs
from eval_pipeline.results.database import Database
from eval_pipeline.settings import PROJECT, Settings
from eval_pipeline.storage import storage

SERVICES = ("webserver", "daemon", "postgres")
VICTIMS = (*SERVICES, "worker")
AGENT = "bookkeeper"
N_EXAMPLES = 120
ASKED = {"select": [AGENT], "limit": N_EXAMPLES}
IN_PROCESS: Mapping[str, Any] = {"config": {"in_process": {}}}
"""How the steps of these nights are executed: what is killed as the worker is the whole of a night."""
MORE = (5, 20)
"""Outcomes between two kills."""
PATIENCE_S = 240.0
LOOK_S = 0.2
FIXED = "appear fixed"
ENDED = ("SUCCESS", "FAILURE", "CANCELED")

LAUNCH = """mutation($p: ExecutionParams!) { launchRun(executionParams: $p) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
LOCATIONS = """{ workspaceOrError { ... on Workspace {
  locationEntries { locationOrLoadError { ... on RepositoryLocation { name } } } } } }"""
RUNS = "{ runsOrError { ... on Runs { results { runId status rootRunId } } } }"


@dataclass
class Told:
    """What a receiver of alerts on loopback took: the titles."""

    url: str = ""
    titles: list[str] = field(default_factory=list)


@contextmanager
def receiver() -> Iterator[Told]:
    """A receiver of ``json://`` alerts."""
    told = Told()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            value = json.loads(self.rfile.read(int(self.headers["content-length"])))
            told.titles.append(str(value["title"]))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with listening(Handler) as place:
        told.url = f"json://{place}/hook"
        yield told


class Deployment:
    """``eval-pipeline dev`` with a home, datasets and an embedded server of its own."""

    def __init__(self, folder: Path, alerts: str) -> None:
        self.home, self.datasets = folder / "home", folder / "datasets"
        self.port = _free_port()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("EVAL_", "DAGSTER_"))},
            "EVAL_HOME": str(self.home),
            "EVAL_DATASETS": str(self.datasets),
            "EVAL_ALERT_URLS": json.dumps([alerts]),
            "EVAL_ALERT_INTERVAL_S": "2",
            "EVAL_CONCURRENCY": "1",
        }
        self._dev: subprocess.Popen[bytes] | None = None
        self._url: str | None = None
        self.n_starts = 0

    def start(self) -> None:
        """Serves, and waits until it answers."""
        command = [sys.executable, "-m", "eval_pipeline", "dev", "--port", str(self.port)]
        log = (self.home.parent / "dev.log").open("ab")
        self._dev = subprocess.Popen(
            command, cwd=PROJECT, env=self.environment, stdout=log, stderr=log, start_new_session=True
        )
        self.n_starts += 1
        _until(self._is_served, "the UI is served, with the definitions")

    def _is_served(self) -> bool:
        answer = self._answers(LOCATIONS)
        entries = answer["workspaceOrError"]["locationEntries"] if answer else []
        return bool(entries) and all((item["locationOrLoadError"] or {}).get("name") for item in entries)

    def keep_up(self) -> None:
        """Starts again what has gone down, as a service manager would: what is left of it is killed first."""
        dev = self._dev
        if dev is not None and (dev.poll() is not None or not all(map(self.has, SERVICES))):
            with suppress(ProcessLookupError):
                os.killpg(dev.pid, signal.SIGKILL)
            dev.wait(20)
            self.start()

    def stop(self) -> None:
        """Ends it with all its processes."""
        dev = self._dev
        if dev is None:
            return
        processes = self._tree()
        if dev.poll() is None:
            dev.send_signal(signal.SIGINT)
        _, alive = psutil.wait_procs(processes, 20)
        for process in alive:
            process.kill()
        dev.wait(20)
        self._dev = None

    def launch(self, request: Mapping[str, Any], execution: Mapping[str, Any] | None = None) -> str:
        """Launches the job ``nightly`` with this request; gives the run's id."""
        selector = {
            "repositoryLocationName": "eval_pipeline.definitions",
            "repositoryName": "__repository__",
            "jobName": "nightly",
        }
        config = {"resources": {"request": {"config": request}}, **({"execution": execution} if execution else {})}
        asked = {"p": {"selector": selector, "mode": "default", "runConfigData": config}}
        answer = self.ask(LAUNCH, asked)["launchRun"]
        if answer["__typename"] != "LaunchRunSuccess":
            raise RuntimeError(f"not launched: {answer}")
        return str(answer["run"]["runId"])

    def in_progress(self) -> bool:
        """Whether any run has not ended; what does not answer has not ended either."""
        answer = self._answers(RUNS)
        return answer is None or any(run["status"] not in ENDED for run in answer["runsOrError"]["results"])

    def ask(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The answer of the UI's GraphQL interface."""
        body = json.dumps({"query": query, "variables": variables or {}}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            data: dict[str, Any] = json.load(answer)["data"]
            return data

    def _answers(self, query: str) -> dict[str, Any] | None:
        try:
            return self.ask(query)
        except (OSError, ValueError, KeyError):
            return None

    def has(self, victim: str) -> bool:
        """Whether there is such a process."""
        return bool(self._processes(victim))

    def kill(self, victim: str) -> None:
        """Kills one process with SIGKILL."""
        for process in self._processes(victim):
            process.kill()

    def _processes(self, victim: str) -> list[psutil.Process]:
        if victim == "postgres":
            return self._postgres()
        words = {"webserver": "dagster_webserver", "daemon": "dagster._daemon", "worker": "multiprocessing.spawn"}
        found = [process for process in self._tree() if words[victim] in _command(process)]
        return found[:1]

    def _postgres(self) -> list[psutil.Process]:
        try:
            pid = int((self.home / "postgres" / "postmaster.pid").read_text("utf-8").split()[0])
            return [psutil.Process(pid)]
        except (OSError, ValueError, IndexError, psutil.NoSuchProcess):
            return []

    def _tree(self) -> list[psutil.Process]:
        if self._dev is None or self._dev.poll() is not None:
            return []
        try:
            return psutil.Process(self._dev.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    @contextmanager
    def results(self) -> Iterator[Database]:
        """The results database. Raises ResultsUnavailable while the server is down: it is never started from here."""
        if self._url is None:
            with storage(Settings(home=self.home)) as where:
                self._url = where.database_url
        with Database(self._url) as database:
            yield database


@dataclass(frozen=True, slots=True)
class Survived:
    """One seed: the order of the kills, how often the deployment was started, and what was not as it should be."""

    seed: int
    order: tuple[str, ...]
    n_starts: int
    seconds: float
    problems: tuple[str, ...]


def survive(seed: int, folder: Path, victims: tuple[str, ...] = VICTIMS) -> Survived:
    """One night with all kills of a seed."""
    chance = random.Random(seed)
    order = tuple(chance.sample(victims, len(victims)))
    began = time.monotonic()
    plant(folder / "datasets")
    with receiver() as told:
        deployment = Deployment(folder, told.url)
        try:
            problems = _night(deployment, order, chance, told)
        finally:
            deployment.stop()
    return Survived(seed, order, deployment.n_starts, time.monotonic() - began, tuple(problems))


def plant(datasets: Path) -> None:
    """A copy of the datasets in which one example of the Bookkeeper that passes has a defect recorded."""
    shutil.copytree(PROJECT / "datasets", datasets)
    for file in sorted((datasets / AGENT).glob("*.json")):
        value = json.loads(file.read_text("utf-8"))
        for example in value.get("examples", ()):
            if not example.get("known_defects") and "status" in example["expected"]:
                example["known_defects"] = [{"keys": ["status_correct"], "reason": "planted: it was fixed long ago"}]
                file.write_text(json.dumps(value, ensure_ascii=False, indent=2), "utf-8")
                return
    raise RuntimeError("there is no example to plant a defect in")


def _night(deployment: Deployment, order: tuple[str, ...], chance: random.Random, told: Told) -> list[str]:
    """The kills, each during a night; when one is over before the next kill, that one comes in the next night."""
    deployment.start()
    _until(lambda: _looked(deployment), "the alerts' first look")
    nights: dict[str, dict[str, Any]] = {deployment.launch(ASKED, IN_PROCESS): {}}
    for victim in order:
        run_id = _in_the_middle(deployment, nights, chance.randint(*MORE), victim)
        nights[run_id] |= _stored(deployment, run_id)
        deployment.kill(victim)
        time.sleep(1)
        deployment.keep_up()
    for run_id in nights:
        _end(deployment, run_id)
    problems = [problem for run_id, kept in nights.items() for problem in _lost(deployment, run_id, kept)]
    problems += _compare(deployment, nights)

    def n_told() -> int:
        deployment.keep_up()
        return sum(FIXED in title for title in told.titles)

    _until(lambda: n_told() >= len(nights), "the alert about the fixed defect")
    time.sleep(5)
    if n_told() != len(nights):
        problems.append(f"the fixed defect of {len(nights)} nights arrived {n_told()} times")
    return problems


def _in_the_middle(deployment: Deployment, nights: dict[str, dict[str, Any]], more: int, victim: str) -> str:
    """Waits until so many more outcomes of a night are stored and the victim is there; gives that night's run.

    A night that ended before it was done is resumed, as the next one would do it.
    """
    run_id = list(nights)[-1]
    before = len(_stored(deployment, run_id))

    def is_there() -> bool:
        nonlocal run_id, before
        deployment.keep_up()
        n_stored = len(_stored(deployment, run_id))
        if n_stored >= N_EXAMPLES and not deployment.in_progress():
            run_id, before = deployment.launch(ASKED, IN_PROCESS), 0
            nights[run_id] = {}
        elif n_stored < N_EXAMPLES and n_stored >= before + more:
            return deployment.has(victim)
        elif not deployment.in_progress():
            deployment.launch({"resume": run_id}, IN_PROCESS)
        return False

    _until(is_there, f"{more} more outcomes, to kill the {victim}")
    return run_id


def _end(deployment: Deployment, run_id: str) -> None:
    """Until the board of the run is there and nothing is in progress."""

    def is_over() -> bool:
        deployment.keep_up()
        if deployment.in_progress():
            return False
        if len(_stored(deployment, run_id)) >= N_EXAMPLES:
            with deployment.results() as database:
                if boards.latest(database, run_id) is not None:
                    return True
        deployment.launch({"resume": run_id}, IN_PROCESS)
        return False

    _until(is_over, "the end of the night")


def _looked(deployment: Deployment) -> bool:
    with deployment.results() as database, database.transaction() as db:
        db.execute("select count(*) as n from results.alerted_nights")
        return bool((db.fetchone() or {})["n"])


def _stored(deployment: Deployment, run_id: str) -> dict[str, Any]:
    """When each stored outcome began, by example; nothing while the database is away."""
    try:
        with deployment.results() as database:
            if not runs.exists(database, run_id):
                return {}
            found = outcomes.read(database, run_id, AGENT)
            return {item.example_id: item.started_at for item in found}
    except ResultsUnavailable:
        return {}


def _lost(deployment: Deployment, run_id: str, kept: Mapping[str, Any]) -> list[str]:
    """What had been finished before a kill and was lost, or run again."""
    after = _stored(deployment, run_id)
    lost = [key for key, began in kept.items() if after.get(key) != began]
    return [f"{len(lost)} finished outcomes were lost or run again, {lost[0]} first"] if lost else []


def _compare(deployment: Deployment, nights: Iterable[str]) -> list[str]:
    """In how many verdicts a night's board differs from that of an undisturbed run over the same server."""
    command = [sys.executable, "-m", "eval_pipeline", "run", AGENT, "--limit", str(N_EXAMPLES), "--json"]
    done = subprocess.run(command, cwd=PROJECT, env=deployment.environment, capture_output=True, text=True, check=False)
    undisturbed = _verdicts(json.loads(done.stdout))
    problems = []
    for run_id in nights:
        with deployment.results() as database:
            found = _verdicts(boards.latest(database, run_id) or {"examples": []})
        differing = undisturbed.keys() ^ found.keys() | {key for key in found if found[key] != undisturbed.get(key)}
        if differing:
            problems.append(
                f"{len(differing)} verdicts differ from those of an undisturbed run, {min(differing)} first"
            )
    return problems


def _verdicts(board: Mapping[str, Any]) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in board["examples"] if row["agent"] == AGENT}


def _until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE_S:.0f} s: {what}")
        time.sleep(LOOK_S)


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def nights(n_seeds: int) -> Iterator[str]:
    """Nights with kills, one for each seed."""
    for seed in range(1, n_seeds + 1):
        with TemporaryDirectory(prefix="eval-nights-") as folder:
            found = survive(seed, Path(folder))
        told = "; ".join(found.problems) or "nothing lost, the board of an undisturbed run, told once"
        yield f"seed {seed}: killed {', '.join(found.order)}; {found.n_starts} starts, {found.seconds:.0f} s: {told}"
