"""Claims: who writes in a run. Two commands on one run would mix; the second is refused with a sentence.

Advisory locks of a session: whoever dies, however he dies, has let go as soon as the server has ended his session, and
with it whatever he was still writing.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from eval_pipeline.errors import RunIsBusy
from eval_pipeline.results.database import Database

PATIENCE_S = 5.0
"""How long a claim is asked for: the session of a process that was killed may take a moment to end."""
_ASK_AGAIN_S = 0.1


@contextmanager
def claimed_run(database: Database, run_id: str) -> Iterator[None]:
    """Holds the claim on a whole run, as a command does from its plan to its board. Raises RunIsBusy."""
    _claim(database, f"run {run_id}")
    try:
        yield
    finally:
        _release(database, f"run {run_id}")


def claim_agent(database: Database, run_id: str, agent: str) -> None:
    """Claims the outcomes of one agent in a run for this connection, until it is closed. Raises RunIsBusy."""
    _claim(database, f"run {run_id}, agent {agent}")


def require_unclaimed(database: Database, run_id: str, agents: Iterable[str]) -> None:
    """Raises RunIsBusy when another process writes outcomes of one of these agents in the run."""
    for agent in agents:
        what = f"run {run_id}, agent {agent}"
        _claim(database, what)
        _release(database, what)


def _claim(database: Database, what: str) -> None:
    until = monotonic() + PATIENCE_S
    while not _try(database, what):
        if monotonic() > until:
            raise RunIsBusy(f"{what} is being run by another command: wait for it, or end it")
        sleep(_ASK_AGAIN_S)


def _try(database: Database, what: str) -> bool:
    with database.transaction() as db:
        db.execute("select pg_try_advisory_lock(hashtextextended(%s, 0)) as got", (f"eval-pipeline {what}",))
        return bool((db.fetchone() or {})["got"])


def _release(database: Database, what: str) -> None:
    with database.transaction() as db:
        db.execute("select pg_advisory_unlock(hashtextextended(%s, 0))", (f"eval-pipeline {what}",))
