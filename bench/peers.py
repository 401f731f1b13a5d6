"""The peers: each in a virtual environment of its own, with a pinned version, measured in a fresh process."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HOME = Path(os.environ.get("PEERS_HOME") or Path.home() / ".cache" / "eval-peers")
TIMEOUT_S = 900
WORKLOADS = Path(__file__).with_name("peer_workloads.py")


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer: the name of its workload, and the package that it needs (none: the standard library).

    A slow one takes half a minute and is measured once.
    """

    name: str
    package: str
    note: str
    is_slow: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """What one example cost: microseconds of wall time, and KiB of the process's peak memory."""

    us: float
    kib: float


class NotMeasured(Exception):
    """A peer that could not be installed or did not do the work; with the reason."""


PEERS = (
    Peer("asyncio", "", "floor: one task an example, nothing kept"),
    Peer("pydantic-evals", "pydantic-evals==2.62.0", "async target; keeps a report in memory"),
    Peer("langsmith-async", "langsmith==0.15.1", "aevaluate, async target; nothing uploaded"),
    Peer("langsmith-threads", "langsmith==0.15.1", "evaluate, threaded target; nothing uploaded"),
    Peer("inspect", "inspect-ai==0.3.285", "eval, async; log on disk; once", is_slow=True),
)


def measure(peer: Peer, n: int) -> Cost:
    """Runs one peer's workload. Raises NotMeasured."""
    command = [str(_python(peer)), str(WORKLOADS), peer.name, str(n)]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise NotMeasured(f"not done after {TIMEOUT_S} s") from None
    if done.returncode:
        raise NotMeasured((done.stderr.strip().splitlines() or ["failed"])[-1][:100])
    value = json.loads(done.stdout.splitlines()[-1])
    return Cost(value["seconds"] / n * 1e6, value["kib"] / n)


def _python(peer: Peer) -> Path:
    """The peer's interpreter; its environment is made when it is not there yet."""
    if not peer.package:
        return Path(sys.executable)
    home = HOME / peer.package.replace("==", "-")
    python = home / "bin" / "python"
    ready = home / ".ready"
    if not ready.exists():
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", peer.package]
        for command in ([sys.executable, "-m", "venv", str(home)], install):
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode:
                raise NotMeasured(f"not installed: {(done.stderr.strip().splitlines() or ['?'])[-1][:80]}")
        ready.touch()
    return python
