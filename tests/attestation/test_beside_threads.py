"""An honest process goes on while it is attested: its threads import, and nobody is blamed for that."""

import sys
import threading
from types import ModuleType

from tests.attestation.agent import Agent


def test_modules_that_another_thread_imports_meanwhile_are_no_difference(agent: Agent) -> None:
    agent.module("graph")
    attestation = agent.attestation()
    done = threading.Event()

    def imports() -> None:
        while not done.is_set():
            for number in range(2000):
                sys.modules[f"imported_meanwhile_{number}"] = ModuleType("imported_meanwhile")
            for number in range(2000):
                del sys.modules[f"imported_meanwhile_{number}"]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=imports)
    thread.start()
    try:
        told = [attestation.differences() for _ in range(5)]
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(before)
    assert told == [()] * 5
