"""``dev`` serves the runs of the command line, says where the board is, and leaves nothing behind when it is ended."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request

import psutil
import pytest

from tests.cli.project import Project

QUERY = '{"query": "{ runsOrError { ... on Runs { results { runId status } } } }"}'


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def runs_in_the_ui(port: int, process: "subprocess.Popen[str]") -> dict[str, str]:
    """The runs that the served UI knows, by id."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", QUERY.encode(), {"Content-Type": "application/json"}
    )
    deadline = time.monotonic() + 90
    while True:
        assert process.poll() is None, process.communicate()
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                found = json.load(answer)["data"]["runsOrError"]["results"]
            return {run["runId"]: run["status"] for run in found}
        except OSError:
            assert time.monotonic() < deadline, "the UI was not served within 90 s"
            time.sleep(0.3)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_dev_shows_the_run_of_the_command_line_and_leaves_nothing_running(
    project: Project, ending: signal.Signals
) -> None:
    run_id = project.run("run", "--json").json["run_id"]
    port = free_port()
    serving = project.start("dev", "--port", str(port))
    try:
        assert runs_in_the_ui(port, serving)[run_id] == "SUCCESS"
        children = psutil.Process(serving.pid).children(recursive=True)
        assert children
        serving.send_signal(ending)
        assert serving.wait(60) == 0
        _, alive = psutil.wait_procs(children, 30)
        assert alive == []
        assert f"the board: http://127.0.0.1:{port}/assets/board" in serving.communicate(timeout=30)[1]
    finally:
        if serving.poll() is None:
            os.killpg(serving.pid, signal.SIGKILL)
        serving.communicate(timeout=30)
